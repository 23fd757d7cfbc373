"""FalkorDB as a replica for links."""
