"""What mends a finding, as edits and renames: data that `authoring` proves and applies."""
