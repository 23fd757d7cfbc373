"""Generators: language models that write text."""
