"""Pages: what a team believes, to look at, from any browser and without a server."""
