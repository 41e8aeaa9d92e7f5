"""Define the MCP tools; a profile is a named set of tools that the server lists."""
