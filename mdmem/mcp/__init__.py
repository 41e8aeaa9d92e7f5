"""The verbs of the workspace as tools of the Model Context Protocol: the only door to its SDK."""
