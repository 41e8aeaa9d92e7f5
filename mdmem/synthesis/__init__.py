"""The outline of a text that is yet to be written, each section with its sources and with what they do not cover."""
