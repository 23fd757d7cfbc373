"""Tables that SQLite and Postgres share."""
