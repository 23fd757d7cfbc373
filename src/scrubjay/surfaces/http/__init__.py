"""HTTP server: the verbs under `/v1`, MCP, the web UI, health and metrics."""
