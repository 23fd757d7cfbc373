"""Postgres as the database of a store."""
