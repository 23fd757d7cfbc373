"""Model process: one process of a user that runs the local models for their other processes."""
