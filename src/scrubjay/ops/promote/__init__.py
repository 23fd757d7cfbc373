"""`scrubjay promote` and `demote`: move a live store between SQLite and Postgres."""
