"""Render the memory as web pages, which are written into a folder or served live."""
