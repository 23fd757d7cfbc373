"""Stages: small functions from a run to a run; `catalogue.py` lists them all."""
