"""Storage: the database of a store (SQLite or Postgres), and replicas of it (Qdrant, FalkorDB)."""
