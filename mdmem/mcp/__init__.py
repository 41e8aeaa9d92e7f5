"""The features as tools of the Model Context Protocol: the only door to its SDK."""
