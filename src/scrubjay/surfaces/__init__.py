"""Interfaces to a store: CLI, HTTP, MCP and web UI. They translate between a caller and `Store`."""
