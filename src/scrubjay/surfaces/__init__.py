"""The ways in and out: thin doors over `service.Store` that translate and never decide."""
