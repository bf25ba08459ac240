"""The loop that plays games, compiled or in plain Python, its steps for live use, its threads."""
