"""The vector cache beside an SQLite file, with the cells that a search compares."""
