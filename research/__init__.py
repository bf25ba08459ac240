"""Evidence for what the pages say: the paper's claims, the leaderboard, single sentences."""
