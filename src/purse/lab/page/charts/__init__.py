"""The figures of a report."""
