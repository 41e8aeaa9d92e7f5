"""Every entry of a tree, and the problems found while loading."""
