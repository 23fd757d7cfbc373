"""Tries to lose what a store acknowledged: kills, power cuts, I/O errors, bit flips, many processes."""
