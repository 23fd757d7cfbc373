"""FalkorDB as a replica that walks links."""
