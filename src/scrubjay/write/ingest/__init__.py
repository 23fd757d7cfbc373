"""Ingestion: files and folders into memories."""
