"""Qdrant as a replica for vectors."""
