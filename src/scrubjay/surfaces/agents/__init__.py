"""Connect agents: edit the settings of Claude Code, Cursor and others so that they start `scrubjay mcp`."""
