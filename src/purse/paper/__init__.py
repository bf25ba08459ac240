"""The study of the paper."""
