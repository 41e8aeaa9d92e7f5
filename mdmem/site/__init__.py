"""Render the memory as pages for a browser, as a folder or live."""
