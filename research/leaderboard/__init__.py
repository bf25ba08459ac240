"""The leaderboard: every policy on the cases of the suite."""
