"""Drawing under a mask: a rule that draws renormalises its probabilities over the allowed arms.

No theorem covers masks. If a policy gives all allowed arms probability 0, each of them is
equally likely.
"""

from purse.compiler.kernel import cold, kernel
from purse.kernels.random import uniform
from purse.types import SKIP, Floats, Now, Play


@kernel
def is_allowed(now: Now, i: int) -> bool:
    """Return whether arm i may be played."""
    return not now.masked or now.allowed[i]


@cold
def restrict(now: Now, chances: Floats) -> None:
    """Set the chances (K,) of masked arms to 0 and scale the others up to the sum that all had.

    What was missing to 1, the chance of a skipped round, keeps its ratio to the allowed arms.
    """
    missing = 1.0
    allowed = 0.0
    n_allowed = 0
    for i in range(now.allowed.shape[0]):
        missing -= chances[i]
        allowed += chances[i] if now.allowed[i] else 0.0
        n_allowed += now.allowed[i]
    missing = missing if missing > 1e-9 else 0.0
    whole = allowed + missing
    for i in range(now.allowed.shape[0]):
        if not now.allowed[i]:
            chances[i] = 0.0
        elif whole > 0:
            chances[i] /= whole
        else:
            chances[i] = 1 / n_allowed


@cold
def draw_allowed(now: Now, chances: Floats, play: Play) -> None:
    """Restrict the chances (K,) to the allowed arms, and draw one with the round's first number.

    What is missing to 1 lets the round pass.
    """
    restrict(now, chances)
    u = uniform(now.key, 0)
    upto = 0.0
    last = -1
    for i in range(now.allowed.shape[0]):
        if chances[i] > 0:
            upto += chances[i]
            last = i
            if u < upto:
                break
    if u < upto or upto > 1 - 1e-9:
        play.arms[0] = last
        play.probs[0] = chances[last]
    else:
        play.arms[0] = SKIP
        play.probs[0] = 1 - upto


@kernel
def count_allowed(now: Now, n_arms: int) -> int:
    """Count the arms, of `n_arms`, that may be played."""
    count = n_arms
    if now.masked:
        for i in range(n_arms):
            count -= not now.allowed[i]
    return count


@kernel
def nth_allowed(now: Now, n: int) -> int:
    """Return the allowed arm that n others stand before."""
    return _find_allowed(now, n) if now.masked else n


@cold
def _find_allowed(now: Now, n: int) -> int:
    arm = -1
    while n >= 0:
        arm += 1
        n -= now.allowed[arm]
    return arm


@cold
def take_any(now: Now, play: Play) -> None:
    """Write allowed arms under a mask, each set of as many as there are plays equally likely.

    One pass of selection sampling. If the allowed arms are too few, the last plays are skipped.
    """
    plays = play.arms.shape[0]
    n_allowed = count_allowed(now, now.allowed.shape[0])
    remaining = n_allowed
    count = 0
    for i in range(now.allowed.shape[0]):
        if now.allowed[i]:
            if uniform(now.key, i) * remaining < plays - count:
                play.arms[count] = i
                play.probs[count] = min(1.0, plays / n_allowed)
                count += 1
            remaining -= 1
    for k in range(count, plays):
        play.arms[k] = SKIP
        play.probs[k] = 1.0


@kernel
def show_any(now: Now, plays: int, out: Floats) -> None:
    """Write the probabilities of `take_any`."""
    n_allowed = count_allowed(now, out.shape[0])
    for i in range(out.shape[0]):
        out[i] = min(1.0, plays / n_allowed) if is_allowed(now, i) else 0.0
