"""Model files: from the cache, the model hub or a wheel on the package index."""
