"""Qdrant as a replica that searches vectors."""
