"""MCP server: tools, resources and prompts for AI agents."""
