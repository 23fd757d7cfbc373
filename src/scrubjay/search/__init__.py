"""Search: the pipeline, its stages and the profiles made of them."""
