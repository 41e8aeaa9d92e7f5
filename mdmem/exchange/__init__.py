"""Import and export: other tools' records become entries, and entries what other tools read."""
