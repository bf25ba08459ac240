"""From results to pictures."""
