"""Insight: what a store contains, as counts, an overview and a map."""
