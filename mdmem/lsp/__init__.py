"""The language server for text editors; it answers LSP requests with the same functions as the commands."""
