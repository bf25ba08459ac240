"""A campaign whose storage this process reaches itself: a file or a database."""
