"""Importers: readers of what other memory systems and chat products store, one file per format."""
