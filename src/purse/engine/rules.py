"""The rules of the game as kernels, shared by the loop and the live steps."""

from typing import Any, NamedTuple

from purse.compiler.kernel import cold, kernel
from purse.engine.workspace import Workspace
from purse.kernels.random import U, uniform
from purse.types import SKIP, STOP_RULES, Bools, Floats, Ints, Now

_EXIT, HOLD, RETRY, FIT = range(len(STOP_RULES))
NEVER = 2**62  # a round that no game reaches


class Game(NamedTuple):
    """The facts of a game that all its paths share."""

    budget: Ints  # (d,) units
    holds: Ints  # (K, d) units: the most that each arm may cost
    unit_scale: Floats  # (d,) one unit as a part of the largest cost: units -> what policies see
    rule: int
    initial_rounds: int
    last_round: int
    horizon: float  # rounds that the policy knows there are, or infinity
    may_skip: bool  # only with a horizon: else a policy that skips would never end
    check_every: int  # rounds between two looks at the stop flag
    seed: int
    up: Bools  # (S, K) which arms are up in each segment of the outages; S = 0 if all always are
    up_last: Ints  # (S,) the last round of each segment; after the last the first comes again


def initial_rounds(policy: Any, n_arms: int, plays: int) -> int:
    """Count the rounds of the initial pulls: each arm once, if the module says `INITIAL_PULLS`."""
    return -(-n_arms // plays) if getattr(policy, "INITIAL_PULLS", False) else 0


@kernel
def initial_pull(t: int, n_arms: int, arms: Ints, probs: Floats) -> None:
    """Write the arms of round t of the initial pulls, in order."""
    plays = arms.shape[0]
    for k in range(plays):
        arms[k] = ((t - 1) * plays + k) % n_arms
        probs[k] = 1.0


@kernel
def owed_pull(now: Now, space: Workspace) -> bool:
    """Write the first allowed arms that still owe their initial pull; return False if none does.

    If fewer arms owe theirs than there are plays, other allowed arms fill the places, in order; if
    these are too few, the last plays are skipped.
    """
    owed, arms, probs = space.owed, space.arms, space.probs
    count = 0
    for wanted in (1, 0):
        for i in range(owed.shape[0]):
            fits = owed[i] == wanted and (not now.masked or now.allowed[i])
            if fits and count < arms.shape[0]:
                arms[count] = i
                probs[count] = 1.0
                count += 1
        if count == 0:
            return False
    for k in range(count, arms.shape[0]):
        arms[k] = SKIP
        probs[k] = 1.0
    return True


@kernel
def show_round(key: U, t: int, rounds_left: float, masked: bool, space: Workspace) -> Now:
    """Return round t as a policy sees it, from the workspace."""
    return Now(
        key,
        t,
        rounds_left,
        space.left,
        masked,
        space.allowed,
        space.masks,
        space.seen,
        space.pending,
        space.context,
    )


@kernel
def settle_owed(space: Workspace) -> None:
    """Record that these arms have had their initial pull."""
    for k in range(space.arms.shape[0]):
        if space.arms[k] >= 0:
            space.owed[space.arms[k]] = 0


@kernel
def _find_segment(game: Game, t: int) -> int:
    """Return the segment of the outages in which round t lies."""
    low, high = 0, game.up_last.shape[0] - 1
    s = (t - 1) % game.up_last[high] + 1
    while low < high:
        middle = (low + high) // 2
        if s > game.up_last[middle]:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def mark_allowed(game: Game, t: int, left_units: Ints, allowed: Bools) -> int:
    """Write which arms are up in round t and, under rule `fit`, fit; return how many."""
    all_up = game.up.shape[0] == 0
    segment = 0 if all_up else _find_segment(game, t)
    for i in range(allowed.shape[0]):
        allowed[i] = all_up or game.up[segment, i]
    return keep_fitting(game, left_units, allowed)


@kernel
def forget_masks(counts: Ints) -> None:
    """Set the counts of masks back to the beginning of a path."""
    for c in range(counts.shape[0]):
        counts[c] = 0


@cold
def count_mask(mask: Bools, t: int, masks: Bools, counts: Ints) -> None:
    """Count the mask (K,) of round t as it was asked for: what does not fit is not masked.

    masks   (C, K) the masks that are counted; one that allows all arms is not
    counts  (C,) the sum of the rounds that had each: round t counts t times, so that the second
            half weighs three times as much as the first

    A mask without a row takes the first row of the least count and goes on from that count, as in
    Space-Saving (Metwally, Agrawal and El Abbadi, 2005): the counts sum to the masked rounds' own.
    """
    n_arms = mask.shape[0]
    n_allowed = 0
    for i in range(n_arms):
        n_allowed += mask[i]
    if n_allowed == n_arms:
        return
    row = -1
    for c in range(counts.shape[0]):
        if counts[c] > 0 and _is_mask(mask, masks[c]):
            row = c
            break
    if row < 0:
        row = least_row(counts)
    for i in range(n_arms):
        masks[row, i] = mask[i]
    counts[row] += t


@kernel
def least_row(counts: Ints) -> int:
    """Return the first row of the least count: a free one, as long as there is one."""
    row = 0
    for c in range(counts.shape[0]):
        if counts[c] < counts[row]:
            row = c
    return row


@kernel
def _is_mask(mask: Bools, other: Bools) -> bool:
    for i in range(mask.shape[0]):
        if mask[i] != other[i]:
            return False
    return True


@kernel
def count_up(game: Game, t: int, space: Workspace) -> None:
    """Count the mask of round t, if arms may be down."""
    if game.up.shape[0] > 0:
        count_mask(game.up[_find_segment(game, t)], t, space.masks, space.seen)


@kernel
def keep_fitting(game: Game, left_units: Ints, allowed: Bools) -> int:
    """Under rule `fit`, disallow arms whose maximum does not fit; return how many are allowed."""
    count = 0
    for i in range(allowed.shape[0]):
        if game.rule == FIT:
            for m in range(left_units.shape[0]):
                if game.holds[i, m] > left_units[m]:
                    allowed[i] = False
        count += allowed[i]
    return count


@kernel
def skip_unfitting(holds: Ints, left_units: Ints, arms: Ints) -> None:
    """Under rule `fit`, skip all plays from the first whose maximum does not fit with those before.

    The first play always fits: it is allowed.
    """
    for k in range(1, arms.shape[0]):
        for m in range(left_units.shape[0]):
            need = 0
            for j in range(k + 1):
                if arms[j] >= 0:
                    need += holds[arms[j], m]
            if need > left_units[m]:
                for j in range(k, arms.shape[0]):
                    arms[j] = SKIP
                return


@kernel
def breaks_mask(now: Now, arms: Ints) -> bool:
    """Return whether some arm that is played is not allowed."""
    for k in range(arms.shape[0]):
        if now.masked and arms[k] >= 0 and not now.allowed[arms[k]]:
            return True
    return False


@kernel
def replace_arm(key: U, attempt: int, short: int, space: Workspace) -> bool:
    """Rule `retry`: replace the arm that costs most of the short resource by a fresh one.

    The new arm is drawn uniformly from those neither excluded nor in play. `excluded` (K,) holds
    the arms that were replaced in this round; return False when no arm is left to draw.
    """
    units, arms, excluded = space.units, space.arms, space.excluded
    worst = 0
    for k in range(1, arms.shape[0]):
        if units[k, short] > units[worst, short]:
            worst = k
    excluded[arms[worst]] = 1
    fresh = 0
    for i in range(excluded.shape[0]):
        fresh += _is_fresh(i, arms, excluded)
    if fresh == 0:
        return False
    skip = int(uniform(key, attempt) * fresh)
    for i in range(excluded.shape[0]):
        if _is_fresh(i, arms, excluded):
            if skip == 0:
                arms[worst] = i
                break
            skip -= 1
    space.probs[worst] = 1 / fresh
    return True


@kernel
def _is_fresh(arm: int, arms: Ints, excluded: Ints) -> bool:
    if excluded[arm] != 0:
        return False
    for k in range(arms.shape[0]):
        if arms[k] == arm:
            return False
    return True
