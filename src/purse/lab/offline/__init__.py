"""Data of one's own: what was recorded, read from a file and played again."""
