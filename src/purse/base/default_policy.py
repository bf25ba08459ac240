"""The policy of who names none. It stands here alone, since the client must not load policies."""

DEFAULT = "replan"  # what the leaderboard recommends to who knows nothing
