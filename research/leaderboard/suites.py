"""The suites by their versions, the policies that play them, and what these were tuned on; suite 3
is here.

Suite 3 has contexts: policies that see them beside a few that do not. In some cases contexts tell
little, have many features, or come with hardly any money. Its version changes whenever an instance
does; no case takes more than about 100,000 rounds over all its paths.
"""

from purse import policies
from research.leaderboard import games, in_traffic, sealed
from research.leaderboard.case import Case

LONG_GAMES, WHAT_USERS_HAVE, WITH_CONTEXTS, IN_TRAFFIC = "1", "2", "3", "traffic"
SEALED = "sealed"
YARDSTICKS = ("fixed", "oracle")  # which know what a policy must learn
ENDS_EARLY = ("best-arm",)  # which look for the best arm, and not for the largest gain
# of policies whose published scale is not their best
VARIANTS = ("c-ucb:alpha=0.5", "i-ucb:alpha=1", "omega-ucb:rho=0.25", "ucb-bwk:c_rad=0.25")
# whose constants were chosen on suite 1, and rules of ours that learn nothing
CHOSEN, PLAIN = ("primal-dual-bwk", "semi-bwk", *VARIANTS), ("uniform",)
BLIND = ("exp3++.prices", "primal-dual-bwk", "replan", "uniform")  # which see no contexts
BY_CLASS = "classes.resolve"
LINEAR = "linear_contexts:horizon=5000"  # a budget of 3,250 pays for the dearest arm in all rounds
LOGISTIC = "logistic_contexts:horizon=5000"  # 1,495
ROUTES = "routing_contexts:strengths=[.3,.6,.9],prices=[.02,.1,.6],prompts=5000"  # 3,000

FITS, UNFIT, TABLE = "linear means", "means that are not linear", "classes"
CONTEXT_CASES = (
    Case("linear, 5%", FITS, LINEAR, 162.5),
    Case("linear, 20%", FITS, LINEAR, 650),
    Case("linear, 50%", FITS, LINEAR, 1625),
    Case("linear, money alone", FITS, "linear_contexts:horizon=None", 300),
    Case("logistic, 5%", UNFIT, LOGISTIC, 75),
    Case("logistic, 20%", UNFIT, LOGISTIC, 300),
    Case("routing by difficulty, 5%", UNFIT, ROUTES, 150),
    Case("routing by difficulty, 20%", UNFIT, ROUTES, 600),
    Case("six classes", TABLE, "class_contexts:classes=6,horizon=5000", 1000),
    Case("a hundred classes", TABLE, "class_contexts:classes=100,horizon=5000", 900),
    Case("thirty features", "many features",
         "linear_contexts:arms=5,features=30,rows=2048,horizon=5000,seed=3", 160),
    Case("a tenth of the strength", "contexts that tell little", f"{LINEAR},strength=0.1", 650),
    Case("no strength", "contexts that tell little", f"{LINEAR},strength=0", 650),
    Case("500 rounds", "few rounds", "linear_contexts:horizon=500", 65, 100),
    Case("linear, 7 pulls", "hardly any money", LINEAR, 9),
    Case("logistic, 7 pulls", "hardly any money", LOGISTIC, 5.4),
    Case("100 rounds late", "late reports", LINEAR, 650, stop="hold", delay=100),
)  # fmt: skip
SUITES = {
    LONG_GAMES: games.LONG_GAMES,
    WHAT_USERS_HAVE: games.WHAT_USERS_HAVE,
    WITH_CONTEXTS: CONTEXT_CASES,
    IN_TRAFFIC: in_traffic.CASES,
    SEALED: sealed.CASES,
}


def players_of(version: str) -> list[str]:
    """Return the policies that play a suite by default: not those whose rule is from memory."""
    if version == WITH_CONTEXTS:
        return sorted([*BLIND, *filter(sees_contexts, filter(is_checked, policies.names()))])
    left_out = (*YARDSTICKS, *ENDS_EARLY)
    shipped = [name for name in policies.names() if name not in left_out and is_checked(name)]
    return sorted([*shipped, *VARIANTS])


def is_checked(policy: str) -> bool:
    """Return whether a policy's rule was held against a text: others are not ranked."""
    return not policies.source(policy).startswith("from memory")


def tuned_on(policy: str) -> str:
    """Return which suites a policy was made or its constants chosen on; "" for none."""
    if policy in CHOSEN:
        return "suite 1"
    is_shipped = policy.partition(":")[0] in policies.names()
    is_ours = is_shipped and policy not in PLAIN and policies.source(policy) == "ours"
    return "all but sealed" if is_ours else ""


def sees_contexts(policy: str, situation: str | None = None) -> bool:
    """Return whether a policy looks at contexts; one of classes sees no numbers."""
    name = policy.partition(":")[0]
    seeing = bool(getattr(policies.load(name), "CONTEXT", False))
    return seeing and (name != BY_CLASS or situation in (None, TABLE))


def name_file(kind: str, version: str) -> str:
    """Return the name of a file of a suite, without its ending: `scores`, `scores-2`."""
    return kind if version == LONG_GAMES else f"{kind}-{version}"
