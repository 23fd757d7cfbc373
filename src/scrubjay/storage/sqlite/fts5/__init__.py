"""FTS5, which has the keyword index of an older file until our own is made."""
