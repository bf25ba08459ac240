"""Speed, as ratios to stated rivals measured in the same run."""
