"""Replicas: Qdrant and FalkorDB kept in step with the database."""
