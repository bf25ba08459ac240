"""The process that commits for others, over a Unix socket."""
