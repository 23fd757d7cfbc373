"""Rendering: results and memories as text, Markdown and JSON."""
