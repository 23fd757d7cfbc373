"""The map of a store: memories laid out on a plane."""
