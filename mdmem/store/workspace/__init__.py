"""An opened root, which all features use: location, snapshot, scope, approval and visibility."""
