"""`scrubjay eval`: measure ranking quality on questions with known answers."""
