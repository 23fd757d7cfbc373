"""Speed, size and memory beside peers in one run: `python -m bench`, or `make bench`."""
