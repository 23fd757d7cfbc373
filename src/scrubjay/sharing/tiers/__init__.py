"""Tiers: databases that are searched together."""
