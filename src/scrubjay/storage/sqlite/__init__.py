"""SQLite as the database of a store."""
