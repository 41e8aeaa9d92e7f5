"""The workspace, which is an opened root, and what all features need of it: snapshot, scope, proposals, visibility."""
