"""Programs that each measure what a page says."""
