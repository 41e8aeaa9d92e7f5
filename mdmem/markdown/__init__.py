"""Parse, patch, merge and shorten entries written in Markdown."""
