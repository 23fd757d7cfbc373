"""Sealed stores: keys, and the encryption of every stored value (decision 047)."""
