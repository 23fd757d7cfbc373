"""The store as tools for agents, over MCP."""
