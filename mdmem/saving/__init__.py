"""What agents hand over to be saved: read, compared with what is there, written, or kept to be tried again."""
