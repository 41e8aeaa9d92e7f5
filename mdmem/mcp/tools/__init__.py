"""The tools of the MCP server: a tool is a row (`shape`) of one of the families, which `table` puts together."""
