"""A campaign whose storage this process reaches itself: a file, a database or a Unix socket."""
