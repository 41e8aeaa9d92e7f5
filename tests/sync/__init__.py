"""Wings that live in other repositories."""
