"""The terms that a budget was created with, and how they are read."""
