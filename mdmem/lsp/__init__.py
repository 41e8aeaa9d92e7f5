"""The language server for text editors: the protocol's requests, answered by the same features as the commands."""
