"""The workspace (an opened root), and its parts that features use: snapshot, scope, proposals and visibility."""
