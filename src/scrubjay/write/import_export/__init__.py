"""Entries: export and import as Markdown files or JSON lines."""
