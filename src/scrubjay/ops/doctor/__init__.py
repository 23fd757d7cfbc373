"""`scrubjay doctor`: checks, each with the command that fixes what it found."""
