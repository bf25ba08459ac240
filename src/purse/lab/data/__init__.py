"""Recorded rounds: files and frames, read as a table or as a log."""
