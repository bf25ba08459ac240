"""The price of money in games whose rounds allow different arms, and the arms of a round at it.

Rounds with a mask pass by like all others, and to play a dear arm because no other is allowed may
be a waste. With p_j the prices that a plan has for the resources, 1 if there is only one, the arm
of a round at the price s is the allowed one with the largest

    u(i) - s sum_j p_j l_j(i),

or no arm if that is negative for all. Rounds to come are expected to have the masks of the rounds
so far, of which round t counts t times: what came last weighs more. s is the least price at which
such rounds take no more than is left, valued at p_j. Just below it they would take more, and a
round is played at either price, drawn so that what is left is spent on average. With one resource
that is the optimum of the program over masks and arms; with several the plan, which knows only
which part of the rounds allows each arm, says how dear they are against each other.

Gain less price times spending is a line in the price, and the lines at two prices, one that spends
too much and one that does not, cross at a price between them that is nearer: a few steps find s.
"""

from purse.compiler.kernel import cold, kernel
from purse.kernels.masks import is_allowed
from purse.kernels.small_lp import SmallLp
from purse.types import Bools, Now

_STEPS = 40  # at most; about five are taken
_FREE = 1e-9  # a plan whose prices are worth less than this has no scarce resource
_FORCED = 1000.0  # times the highest price at which an arm is worth it: then the cheapest is best


@kernel
def may_mask(now: Now) -> bool:
    """Return whether an earlier round had a mask."""
    return now.seen.shape[0] > 0 and now.seen[0] > 0


@kernel
def _count_up_to(t: int) -> float:
    """Return how often the rounds up to t count together: round s counts s times."""
    return t * (t + 1.0) / 2


@cold
def allowed_share(now: Now, arm: int) -> float:
    """Return the part of the rounds so far, as they count, that allow the arm, this one included;
    at least what the first round counts.
    """
    out = 0 if is_allowed(now, arm) else now.t
    for c in range(now.seen.shape[0]):
        if now.seen[c] > 0 and not now.masks[c, arm]:
            out += now.seen[c]
    whole = _count_up_to(now.t)
    return max(1.0, whole - out) / whole


@cold
def _rank_arms(lp: SmallLp, price: float) -> None:
    """Write to `worths` what arms are worth at a price, and sort `order` by it, the best first.

    Of equal arms the first comes first.
    """
    for i in range(lp.gains.shape[0]):
        lp.worths[i] = lp.gains[i] - price * lp.scales[i]
    for k in range(1, lp.order.shape[0]):
        arm = lp.order[k]
        rank = k
        while rank > 0:
            other = lp.order[rank - 1]
            behind = lp.worths[other] < lp.worths[arm]
            if not behind and (lp.worths[other] > lp.worths[arm] or other < arm):
                break
            lp.order[rank] = other
            rank -= 1
        lp.order[rank] = arm


@kernel
def _best_of(lp: SmallLp, mask: Bools, masked: bool, skip: bool) -> int:
    """Return the best arm of a mask in `order`; -1 if no arm is open, or worth it and rounds may
    pass.
    """
    for k in range(lp.order.shape[0]):
        i = lp.order[k]
        if lp.open[i] and (not masked or mask[i]):
            return -1 if skip and lp.worths[i] < 0 else i
    return -1


@kernel
def _add_rounds(lp: SmallLp, arm: int, count: float, part: float) -> tuple[float, float]:
    """Return the gain and the spending of `count` rounds; adds `part` of their pulls to `pulls`."""
    if arm < 0:
        return 0.0, 0.0
    lp.pulls[arm] += part * count
    return count * lp.gains[arm], count * lp.scales[arm]


@cold
def _respond(
    lp: SmallLp, now: Now, price: float, skip: bool, part: float
) -> tuple[float, float, int]:
    """Price the rounds so far again; return their gain and spending, and the arm of this round.

    Add `part` of their pulls to `pulls`.
    """
    _rank_arms(lp, price)
    mine = _best_of(lp, now.allowed, now.masked, skip)
    gain, spent = _add_rounds(lp, mine, float(now.t), part)
    remaining = _count_up_to(now.t - 1)
    for c in range(now.seen.shape[0]):
        if now.seen[c] > 0:
            count = float(now.seen[c])
            more, cost = _add_rounds(lp, _best_of(lp, now.masks[c], True, skip), count, part)
            gain += more
            spent += cost
            remaining -= count
    if remaining > 0:
        more, cost = _add_rounds(lp, _best_of(lp, now.allowed, False, skip), remaining, part)
        gain += more
        spent += cost
    return gain, spent, mine


@cold
def split_round(lp: SmallLp, now: Now, d: int, skip: bool) -> float:
    """Write to `pulls` the parts of this round that arms get, which may sum to less than 1, and to
    `scales` how often what rounds like those so far spend pays for an arm; return their number of
    pulls, as they count.

    With several resources the program must be solved. Arms that this round masks are closed.

    skip   whether a round may pass
    """
    budget = 0.0
    for j in range(d):
        budget += lp.prices[j] * lp.limits[j] if d > 1 else lp.limits[j]
    free = d > 1 and budget < _FREE
    if free:
        budget = float(d)
    high = 0.0
    for i in range(lp.gains.shape[0]):
        lp.order[i] = i
        lp.pulls[i] = 0.0
        lp.scales[i] = 0.0
        for j in range(d):
            price = 1.0 if d == 1 else lp.parts[j] if free else lp.prices[j]
            lp.scales[i] += lp.uses[i, j] * price
        if lp.open[i] and lp.scales[i] > 0:
            high = max(high, (1 + _FREE) * lp.gains[i] / lp.scales[i])
    if not skip:
        high *= _FORCED
    pace = budget * _count_up_to(now.t) / now.rounds_left
    low, part = 0.0, 1.0
    gain_below, spent_below, _ = _respond(lp, now, low, skip, 0.0)
    if spent_below > pace:
        gain_above, spent_above, _ = _respond(lp, now, high, skip, 0.0)
        for _ in range(_STEPS):
            if spent_below <= spent_above:
                break
            price = (gain_below - gain_above) / (spent_below - spent_above)
            gain, spent, _ = _respond(lp, now, price, skip, 0.0)
            if gain - price * spent <= gain_below - price * spent_below + _FREE * gain_below:
                break
            if spent > pace:
                low, gain_below, spent_below = price, gain, spent
            else:
                high, gain_above, spent_above = price, gain, spent
        part = 0.0
        if spent_below > spent_above:
            part = min(1.0, max(0.0, (pace - spent_above) / (spent_below - spent_above)))
    _, _, below = _respond(lp, now, low, skip, part)
    above = -1
    if part < 1:
        _, _, above = _respond(lp, now, high, skip, 1 - part)
    total = spent = 0.0
    for i in range(lp.gains.shape[0]):
        total += lp.pulls[i]
        spent += lp.pulls[i] * lp.scales[i]
    for i in range(lp.gains.shape[0]):
        lp.open[i] = lp.open[i] and is_allowed(now, i)
        lp.scales[i] = spent / lp.scales[i] if lp.open[i] and lp.scales[i] > 0 else 0.0
        lp.pulls[i] = 0.0
    if below >= 0:
        lp.pulls[below] += part
    if above >= 0:
        lp.pulls[above] += 1 - part
    return total
