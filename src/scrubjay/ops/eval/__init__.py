"""`scrubjay eval`: ranking quality on questions with known answers."""
