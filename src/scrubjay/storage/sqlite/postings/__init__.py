"""The keyword index of an SQLite file: postings of each token, in blocks, in segments."""
