"""Opens a root, builds each part once, offers the verbs."""
