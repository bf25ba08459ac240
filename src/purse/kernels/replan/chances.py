"""The arms that a plan of `replan` may use, and the chance of each arm from its solution."""

from purse.compiler.kernel import cold, kernel
from purse.kernels.masks import is_allowed
from purse.kernels.optimism import TINY
from purse.kernels.small_lp import SmallLp
from purse.types import Floats, Now


@kernel
def open_arms(lp: SmallLp, cost_max: Floats, now: Now, masks: bool) -> None:
    """Open the allowed arms below their caps, and of these only those that fit, if any does.

    cost_max   (K, d) the declared largest costs
    masks      whether the plan is for rounds with all kinds of masks: then all arms are allowed
    """
    n_arms, d = cost_max.shape
    most = now.left[0] * (1 + TINY)
    some = 0
    for i in range(n_arms):
        able = (masks or is_allowed(now, i)) and lp.caps[i] > 0
        lp.open[i] = able and cost_max[i, 0] <= most
    for j in range(1, d):
        most = now.left[j] * (1 + TINY)
        for i in range(n_arms):
            lp.open[i] &= cost_max[i, j] <= most
    for i in range(n_arms):
        some |= lp.open[i]
    if not some:
        for i in range(n_arms):
            lp.open[i] = (masks or is_allowed(now, i)) and lp.caps[i] > 0


@kernel
def add_looks(lp: SmallLp, rate: float, planned: float) -> float:
    """Write each arm's chance of a look; return their sum.

    rate      of an arm of which as much as is planned of all could be pulled, in `scales`
    planned   the sum of the planned pulls
    """
    part = rate / planned
    looked = 0.0
    for i in range(lp.chances.shape[0]):
        lp.chances[i] = min(rate, part * lp.scales[i])
        looked += lp.chances[i]
    return looked


@kernel
def share_equally(lp: SmallLp, arm: int, part: float) -> None:
    """Add the same to the chances of all open arms with the numbers of `arm`, `part` together."""
    chances = lp.chances
    count = 0
    for i in range(chances.shape[0]):
        count += lp.open[i] & (lp.gains[i] == lp.gains[arm])
    if count == 1:  # nearly always
        chances[arm] += part
        return
    count = 0
    for i in range(chances.shape[0]):
        count += _is_same(lp, arm, i)
    for i in range(chances.shape[0]):
        if _is_same(lp, arm, i):
            chances[i] += part / count


@cold
def _is_same(lp: SmallLp, arm: int, i: int) -> bool:
    """Return whether arm i is open and has the numbers of `arm`."""
    if lp.gains[i] != lp.gains[arm] or not lp.open[i]:
        return False
    for j in range(lp.uses.shape[1]):
        if lp.uses[i, j] != lp.uses[arm, j]:
            return False
    return True


@cold
def play_cheapest(lp: SmallLp) -> None:
    """Give all to the open arm that takes least of the first row; 0 if no arm is open."""
    arm = -1
    for i in range(lp.gains.shape[0]):
        lp.chances[i] = 0.0
        if lp.open[i] and (arm < 0 or lp.uses[i, 0] < lp.uses[arm, 0]):
            arm = i
    if arm >= 0:
        lp.chances[arm] = 1.0
