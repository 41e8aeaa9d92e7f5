"""One opened root, below every feature: location, snapshot, scope, standing, visibility."""
