"""The store over HTTP."""
