"""The suites by their versions, and the policies that play them."""

from __future__ import annotations

from purse import policies
from research.leaderboard import in_traffic, long_games, what_users_have, with_contexts

LONG_GAMES, WHAT_USERS_HAVE, WITH_CONTEXTS, IN_TRAFFIC = "1", "2", "3", "traffic"
SUITES = {
    LONG_GAMES: long_games.CASES,
    WHAT_USERS_HAVE: what_users_have.CASES,
    WITH_CONTEXTS: with_contexts.CASES,
    IN_TRAFFIC: in_traffic.CASES,
}
YARDSTICKS = ("fixed", "oracle")  # which know what a policy must learn
ENDS_EARLY = ("best-arm",)  # which look for the best arm, and not for the largest gain
# of policies whose published scale is not their best
VARIANTS = ("c-ucb:alpha=0.5", "i-ucb:alpha=1", "omega-ucb:rho=0.25", "ucb-bwk:c_rad=0.25")


def players_of(version: str) -> list[str]:
    """Return the policies that play a suite by default."""
    if version == WITH_CONTEXTS:
        return with_contexts.players()
    shipped = [name for name in policies.names() if name not in (*YARDSTICKS, *ENDS_EARLY)]
    return sorted([*shipped, *VARIANTS])


def name_file(kind: str, version: str) -> str:
    """Return the name of a file of a suite, without its ending: `scores`, `scores-2`."""
    return kind if version == LONG_GAMES else f"{kind}-{version}"
