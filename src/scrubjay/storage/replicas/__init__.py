"""Replicas: Qdrant and FalkorDB, fed with every change of the database."""
