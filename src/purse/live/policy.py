"""`purse.Policy`: a policy in memory that is asked for arms and told their rewards and costs."""

import os
from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np

from purse.base import amounts, html, validation
from purse.base.array_file import DAMAGE
from purse.base.text import count
from purse.engine.ask_tell import DONE, INITIAL, NO_ARM, NO_PULL, WRONG
from purse.engine.rules import count_mask
from purse.errors import (
    AskRefused,
    BudgetExhausted,
    HorizonReached,
    InvalidInput,
    PurseError,
    TicketError,
    invalid,
    shorten,
)
from purse.features import Features
from purse.kernels.fourier import as_seen
from purse.live import save_file
from purse.live.memory import PolicyMemory
from purse.live.report import Round, out_of_bounds, read_choice, read_report, wrong_choice
from purse.live.save_file import facts_of, is_policy_file, restore
from purse.policies import DEFAULT
from purse.types import LONGEST, SKIP, STOP, Floats, Problem, Ticket


class Policy(PolicyMemory):
    """A live policy in memory that never spends more than its budget.

    `ask` returns a `Ticket`, `tell` reports its reward and cost, and `void` cancels it. Several
    tickets may be open at once. Several threads may ask and report, in any order. A
    `Campaign` with `storage="memory:"` also takes a cost before its reward, and failed calls.

    policy      a name with options, such as "exp3++.bwk:beta=1", a policy file, or a module
    n_arms      the number of arms, K
    budget      an amount; for several resources one for each, shape (d,)
    cost_min, cost_max   the least and the most that a pull costs: one amount, one for each arm, or
                         one for each arm and resource, shape (K, d)
    plays       arms in each round
    horizon     the number of rounds; "forecast": each ask tells how many are left; None: no limit
    costs, caps   known constant costs, and pulls allowed per arm, for policies that use them
    seed        the same seed and the same reports give the same choices
    stop        the stop rule: "hold", "exit", "retry" or "fit"
    features    what a context holds: a number of features, a list of names, or a mapping from names
                to a range (low, high), to (low, high, "optional") or to classes; None: no contexts
    per_arm     whether each arm has a context of its own
    map         random cosines of the features that the policy sees, too, such as "fourier:48", so
                that it can learn what is not linear; None: none

    Raise `InvalidInput` when a value is not allowed, or when the policy cannot play the problem.
    """

    def __init__(
        self,
        policy: str | ModuleType = DEFAULT,
        *,
        n_arms: int,
        budget: Any,
        cost_min: Any,
        cost_max: Any = 1,
        n_resources: int = 1,
        plays: int = 1,
        horizon: int | str | None = None,
        costs: Any = None,
        caps: Any = None,
        seed: int = 0,
        stop: str = "hold",
        features: Any = None,
        per_arm: bool = False,
        map: str | None = None,
    ) -> None:
        arms = validation.integer("n_arms", n_arms, low=1)
        declared = Features.of(features, n_arms=arms, per_arm=per_arm, map=map)
        problem = Problem.of(
            n_arms=n_arms,
            budget=budget,
            cost_min=cost_min,
            cost_max=cost_max,
            n_resources=n_resources,
            plays=plays,
            horizon=horizon,
            costs=costs,
            caps=caps,
            stop=stop,
            n_features=declared.n_seen,
            per_arm=per_arm,
        )
        self._begin(policy, problem, seed, declared)

    @classmethod
    def of(cls, problem: Problem, policy: str | ModuleType, *, seed: int, stop: str) -> "Policy":
        """Return a live policy for a `Problem`, under this stop rule."""
        live = cls.__new__(cls)
        live._begin(policy, replace(problem, stop=stop), seed)
        return live

    def __repr__(self) -> str:
        return (
            f"<Policy {self.name}: round {self.t}, spent {self.spent}, held {self.held}, left "
            f"{self.left}, stop={self.stop}>"
        )

    def _repr_html_(self) -> str:
        """Return the money as a table, for notebooks."""
        head = ("", "budget", "spent", "held", "left")
        parts = self.problem.budget.tolist(), self.spent_units, self.held_units, self.left_units
        rows = [
            (f"resource {number}", *map(amounts.text, units))
            for number, units in enumerate(zip(*parts, strict=True), 1)
        ]
        opened = count(len(self._open), "open ticket")
        title = f"{self.name}: round {self.t}, gain {self.gain:g}, {opened}"
        return html.table(head, rows, title=title)

    def probabilities(
        self, arms: Sequence[int] | None = None, context: Any = None, rounds_left: int | None = None
    ) -> Floats:
        """Return the probability of each arm in the next round, shape (K,).

        arms      the arms that may be played; None: all of them
        context, rounds_left   as for `ask`

        The probabilities sum to `plays`; during the initial pulls each is 0 or 1.

        Raise `PurseError` when the policy draws its arm without computing probabilities.
        """
        with self._lock:
            out = np.zeros(self.problem.n_arms)
            self._foresee(rounds_left)
            self._see(self.features.encode(context))
            masked = self._mask(arms)
            upcoming = self._peek(masked)
            if upcoming.t <= self.t or upcoming.initial:
                out[[arm for arm in upcoming.arms if arm >= 0]] = 1.0
            elif self._steps.look is None:
                raise PurseError(f"{self.name} draws its arm without computing probabilities")
            else:
                self._steps.look(self.t + 1, masked, out)
            return out

    def _mask(self, arms: Sequence[int] | None) -> bool:
        """Write which arms are allowed; return False if all are."""
        if arms is None:
            return False
        mask, last = bytearray(self.problem.n_arms), self.problem.n_arms - 1
        for arm in arms:
            if type(arm) is not int or not 0 <= arm <= last:  # at once: it is the usual case
                arm = validation.integer("arms", arm, low=0, high=last)
            mask[arm] = True
        if True not in mask:
            raise invalid("arms", list(arms), "must name at least one arm")
        self._allowed[:] = self._asked = mask
        return True

    def _foresee(self, rounds_left: int | None) -> None:
        """Write about how many rounds are left; refuse a number that is not wanted, or missing."""
        if self._forecast:
            left = validation.integer("rounds_left", rounds_left, low=1, high=LONGEST)
            self._horizon[0] = float(self.t + left)
        elif rounds_left is not None:
            raise invalid("rounds_left", rounds_left, "needs a policy with horizon='forecast'")

    def _peek(self, masked: bool = False) -> Round:
        """Return the round that the next ask is for; nothing changes."""
        if again := self._next_again(masked):
            return again
        space = self._game.workspace
        t, left, owed = self._next_round(), self._left_units.copy(), space.owed.copy()
        outcome = self._steps.ask(t, masked)
        self._left_units[:], space.owed[:] = left, owed
        if outcome == NO_ARM:
            raise BudgetExhausted(self._why_none_fits())
        first = space.arms[0]
        # also if the budget cannot cover it: then the outcome says so instead
        exists = 0 <= first < len(owed)
        initial = self._game.game.initial_rounds > 0 and exists and bool(owed[first])
        return Round(t, *read_choice(space), initial=initial)

    def _next_again(self, masked: bool) -> Round | None:
        """Return the first round to ask for again whose arms are all allowed."""
        mask = self._game.workspace.allowed
        for again in self._again:
            if (not masked or mask[list(again.arms)].all()) and self._may_fit(again.arms):
                return again
        return None

    def _may_fit(self, arms: tuple[int, ...]) -> bool:
        """Return whether these arms may be played under rule `fit`; under other rules they may."""
        maximum = self.problem.cost_max[list(arms)].sum(axis=0)
        return self.stop != "fit" or bool((maximum <= self._left_units).all())

    def _next_round(self) -> int:
        if self.t == self._game.game.last_round:
            raise HorizonReached(f"all {self.t} rounds of the horizon have been asked for")
        return self.t + 1

    def _check_skip(self, ticket: Ticket) -> None:
        """Let a round pass that the policy may skip; refuse any other choice without an arm."""
        if ticket.arm == STOP or (ticket.skipped and not self._game.game.may_skip):
            raise AskRefused(f"{self.name} has ended the game after {self.t} rounds")
        if not ticket.skipped:
            wrong = wrong_choice(ticket.arms, self.problem.n_arms, ticket.t)
            raise PurseError(f"{self.name} {wrong}")

    def ask(
        self, arms: Sequence[int] | None = None, context: Any = None, rounds_left: int | None = None
    ) -> Ticket:
        """Return a ticket for the next round, and hold the most that its arms may cost.

        arms      the arms that may be played; None: all of them
        context   the values of the features, by name or in order, if there are features; with
                  `per_arm` a list with those of each arm
        rounds_left   about how many rounds are left, this one included, with
                  `horizon="forecast"`; no round is refused because of it

        Raise `InvalidInput` when the context does not fit the features.
        Raise `BudgetExhausted` when the budget cannot cover the pull; then nothing has changed.
        Raise `HorizonReached` when all rounds of the horizon have been asked for.
        Raise `AskRefused` when the policy has ended the game.
        """
        self._lock.acquire()  # by hand, here and in `tell`: `with` takes twice the time
        try:
            if self.over:
                raise BudgetExhausted(self.over)
            game = self._game
            if self._forecast or rounds_left is not None:
                self._foresee(rounds_left)
            numbers: tuple[float, ...] = ()
            if self.features.declared or context is not None:
                numbers = self.features.encode(context)
                self._see(numbers)
            masked = arms is not None and self._mask(arms)
            again = self._next_again(masked) if self._again else None
            if again is not None:
                t = again.t
                self._write_round(again)
                outcome = self._steps.hold(game.game, game.workspace, game.held)
            else:
                t = self._next_round()
                outcome = self._steps.ask(t, masked)
            chosen, probs, held = self._buffer.read_ticket()
            if chosen[-1] < 0:
                chosen, probs = read_choice(game.workspace)
            ticket = Ticket(self._next_id, t, chosen, probs, held)
            if INITIAL <= outcome <= DONE:
                if masked and again is None and self.stop == "retry":
                    masked_arms = np.flatnonzero(~game.workspace.allowed).tolist()
                    self._open[ticket.id] = ticket, Round(t, chosen, probs, tuple(masked_arms))
                else:
                    self._open[ticket.id] = ticket, again
                if self._sees:
                    self._contexts[ticket.id] = numbers
                if self._counts_pending:
                    self._count_pending(chosen, 1)
            elif outcome == NO_PULL:
                self._check_skip(ticket)
            elif outcome == NO_ARM:
                raise BudgetExhausted(self._why_none_fits())
            else:
                raise BudgetExhausted(self._why_refused(ticket, outcome))
            if again is not None:
                self._again.remove(again)
            else:
                self.t = t
                if masked and self._counts_masks:
                    self._count_mask()
                if outcome == INITIAL:
                    self._initial.add(t)
            self._next_id += 1
            return ticket
        finally:
            self._lock.release()

    def tell(self, ticket: Ticket, reward: Any, cost: Any) -> bool:
        """Report the reward and the cost of a ticket, and return whether the pull was paid.

        reward   from 0 to 1; with several plays one for each, shape (m,)
        cost     between `cost_min` and `cost_max`; with several plays or resources shape (m, d)

        Under the stop rules `exit` and `retry` the rest of the budget may be too small for a cost.
        Such a pull does not count and is not learnt from: `exit` ends the game, `retry` asks for
        another arm.

        Raise `InvalidInput` when a number is out of range; then the ticket stays open.
        Raise `TicketError` when the ticket is not open.
        """
        self._lock.acquire()
        try:
            ticket, issued = self._find(ticket)
            rewards, units = read_report(ticket, reward, cost)
            buffer = self._buffer
            _, t, arms, probs, held = ticket
            if len(arms) == buffer.plays:
                buffer.form.pack_into(buffer.words, 0, *arms, *probs, *held, *rewards, *units)
            else:
                buffer.pack_fewer(arms, probs, held, rewards, units)
            # first: if anything interrupts what follows, no ticket pays twice
            del self._open[ticket.id]
            if self._sees:
                self._see(self._contexts[ticket.id])
            outcome = self._steps.tell(t)
            if outcome <= WRONG:
                self._open[ticket.id] = ticket, issued
                raise out_of_bounds(self.problem, ticket, rewards, cost, WRONG - outcome)
            if self._sees:
                del self._contexts[ticket.id]
            if self._counts_pending:
                self._count_pending(arms, -1)
            if outcome == DONE:
                for gained in rewards:
                    self.gain += gained
                return True
            self._refuse(issued or Round(*ticket[1:4]), outcome)
            return False
        finally:
            self._lock.release()

    def void(self, ticket: Ticket) -> None:
        """Cancel a ticket: release its hold and learn nothing.

        The next ask repeats an initial pull that was cancelled.

        Raise `TicketError` when the ticket is not open.
        """
        with self._lock:
            ticket, issued = self._find(ticket)
            del self._open[ticket.id]
            self._contexts.pop(ticket.id, None)
            if self._counts_pending:
                self._count_pending(ticket.arms, -1)
            self._left_units[:] += ticket.held_units
            if ticket.t in self._initial:
                self._again.append(issued or Round(*ticket[1:4]))

    def _count_mask(self) -> None:
        """Count the last mask, as simulations do after a round."""
        space = self._game.workspace
        count_mask(np.frombuffer(self._asked, np.bool_), self.t, space.masks, space.seen)

    def _refuse(self, issued: Round, short: int) -> None:
        space = self._game.workspace
        space.excluded[:] = 0
        space.excluded[list(issued.excluded)] = 1
        need = int(space.units[:, short].sum())
        if self.stop == "retry" and self._steps.replace(
            self._game.game, issued.t, issued.attempt, short, space
        ):
            tried = tuple(np.flatnonzero(space.excluded).tolist())
            self._again.append(Round(issued.t, *read_choice(space), tried, issued.attempt + 1))
        else:
            self.over = (
                f"the game ended in round {issued.t}: {amounts.text(self.left_units[short])} "
                f"is left, which cannot pay {amounts.text(need)}"
            )

    def _why_refused(self, ticket: Ticket, short: int) -> str:
        whose = (
            f"arm {ticket.arm}"
            if len(ticket.arms) == 1
            else "arms " + ", ".join(map(str, ticket.arms))
        )
        refusal = (
            f"{whose} may cost {amounts.text(ticket.held_units[short])} and "
            f"{amounts.text(self.left_units[short])} is left"
        )
        return refusal + (
            f"; open tickets: {len(self._open)}, holding {amounts.text(self.held_units[short])}"
            if self._open
            else ""
        )

    def _why_none_fits(self) -> str:
        left = ", ".join(map(amounts.text, self.left_units))
        held = f"; open tickets: {len(self._open)}" if self._open else ""
        return f"no allowed arm fits: {left} is left{held}"

    def _find(self, ticket: Ticket) -> tuple[Ticket, Round | None]:
        """Return an open ticket and its round; refuse one that is not open."""
        if not isinstance(ticket, Ticket) or not isinstance(ticket.id, int):
            raise TicketError(f"{shorten(repr(ticket))} is not a ticket; pass what `ask` returned")
        entry = self._open.get(ticket.id)
        if entry is None or entry[0] != ticket:
            finished = entry is None and 0 < ticket.id < self._next_id
            raise TicketError(
                f"ticket {ticket.id} is "
                f"{'finished already' if finished else 'not one that this policy issued'}"
            )
        return entry

    def _see(self, numbers: Sequence[float]) -> None:
        """Write the numbers of a context for the policy."""
        if self._sees:
            if self.features.waves is not None:
                rows = np.array(numbers).reshape(-1, self.features.n_columns)
                numbers = as_seen(self.features, rows).ravel().tolist()
            self._buffer.write_context(numbers)

    def _write_round(self, issued: Round) -> None:
        space, skipped = self._game.workspace, self.problem.plays - len(issued.arms)
        space.arms[:] = [*issued.arms, *[SKIP] * skipped]
        space.probs[:] = [*issued.probabilities, *[1.0] * skipped]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the policy to a file, whole or not at all.

        `Policy.load` continues from the file bit for bit.
        """
        with self._lock:
            save_file.save(path, facts_of(self), self.state._asdict())

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, allow_policy_file: bool = False) -> "Policy":
        """Return the policy that `save` wrote to this file, with its open tickets.

        allow_policy_file   whether to run a policy file that the file names: it is code, so both
                            must be trusted

        Raise `InvalidInput` when the file cannot be read or holds no saved policy of this version,
        or when it names a policy file that is not allowed.
        """
        facts, arrays = save_file.load(path)
        try:
            if is_policy_file(facts["name"]) and not allow_policy_file:
                raise InvalidInput(
                    f"it plays the policy file {facts['name']!r}, which would be run; pass "
                    "allow_policy_file=True if it can be trusted"
                )
            policy = cls.__new__(cls)
            restore(policy, facts, arrays)
            return policy
        except DAMAGE as error:
            detail = str(error) if isinstance(error, InvalidInput) else "it is not a saved policy"
            raise InvalidInput(f"cannot load {str(path)!r}: {detail}") from error
