"""Parts of Store."""
