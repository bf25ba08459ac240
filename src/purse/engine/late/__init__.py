"""The second loop: games whose reports come late."""
