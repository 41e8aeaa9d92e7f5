"""The catalog: all entries and wings of a tree, and the problems found while loading them."""
