"""Sharing: users, permissions, shared collections, API keys and tiers."""
