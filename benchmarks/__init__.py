"""Speed, as ratios to a stated rival measured in the same run."""
