"""`purse.Policy`: a policy in memory that is asked for arms and told their rewards and costs."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence
from dataclasses import fields, replace
from types import ModuleType
from typing import Any

import numpy as np

from purse import policies
from purse.base import validation
from purse.base.spec import absolute
from purse.engine.job import make_game, make_policy, sees_contexts
from purse.engine.rules import NEVER
from purse.engine.steps import (
    DONE,
    INITIAL,
    NO_ARM,
    NO_PULL,
    CallBuffer,
    make_steps,
    new_game,
)
from purse.errors import (
    AskRefused,
    BudgetExhausted,
    HorizonReached,
    InvalidInput,
    PurseError,
    invalid,
)
from purse.features import Feature, Features
from purse.live import save_file
from purse.live.account import Round, read_choice
from purse.live.damage import (
    DAMAGE,
    check_account,
    check_context,
    check_numbers,
    check_problem,
    check_round,
    is_policy_file,
)
from purse.live.reports import Reports
from purse.live.save_file import layout
from purse.policies import DEFAULT
from purse.types import SKIP, STOP, Floats, Problem, Ticket

_SAVED = ("name", "seed", "stop", "t", "gain", "over", "_next_id")  # what `save` takes as it is


class Policy(Reports):
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
    horizon     the number of rounds; None: no limit
    costs, caps   known constant costs, and pulls allowed per arm, for policies that use them
    seed        the same seed and the same reports give the same choices
    stop        the stop rule: "hold", "exit", "retry" or "fit"
    features    what a context holds: a number of features, a list of names, or a mapping from names
                to a range (low, high), to (low, high, "optional") or to classes; None: no contexts
    per_arm     whether each arm has a context of its own

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
        horizon: int | None = None,
        costs: Any = None,
        caps: Any = None,
        seed: int = 0,
        stop: str = "hold",
        features: Any = None,
        per_arm: bool = False,
    ) -> None:
        arms = validation.integer("n_arms", n_arms, low=1)
        declared = Features.of(features, n_arms=arms, per_arm=per_arm)
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
            n_features=declared.n_columns,
            per_arm=per_arm,
        )
        self._begin(policy, problem, seed, declared)

    @classmethod
    def of(cls, problem: Problem, policy: str | ModuleType, *, seed: int, stop: str) -> Policy:
        """Return a live policy for a `Problem`, under this stop rule."""
        live = cls.__new__(cls)
        live._begin(policy, replace(problem, stop=stop), seed)
        return live

    def __repr__(self) -> str:
        return (
            f"<Policy {self.name}: round {self.t}, spent {self.spent}, held {self.held}, left "
            f"{self.left}, stop={self.stop}>"
        )

    def _begin(
        self,
        policy: str | ModuleType,
        problem: Problem,
        seed: int,
        features: Features | None = None,
    ) -> None:
        self.features = features or unnamed(problem)
        module, params = make_policy(policy, problem)
        self._module = module
        self.name = policy if isinstance(policy, str) else file_of(module) or module.NAME
        self.t = 0  # rounds asked for so far
        self.gain = 0.0
        self.over = ""  # why the game has ended, once it has
        game = make_game(module, problem, seed, problem.horizon or NEVER)
        self.seed, self.stop = game.seed, problem.stop
        self._buffer = CallBuffer(problem)
        state = module.init(params, problem)
        self._game = new_game(module, params, state, game, self._buffer, problem)
        self._steps = make_steps(module, problem, self._game)
        super().__init__(problem, self._game.workspace.left_units)
        self._counts_pending = bool(getattr(module, "PENDING", False))
        self._allowed = self._buffer.workspace.allowed.data.cast("B")
        self._sees = bool(self.features) and sees_contexts(module)
        self._initial: set[int] = set()  # rounds that were initial pulls
        self._again: deque[Round] = deque()  # rounds that have to be asked for again

    @property
    def state(self) -> Any:
        """What the policy has learnt: a NamedTuple of arrays, to read and not to write."""
        return self._game.state

    def probabilities(self, arms: Sequence[int] | None = None, context: Any = None) -> Floats:
        """Return the probability of each arm in the next round, shape (K,).

        arms      the arms that may be played; None: all of them
        context   as for `ask`

        The probabilities sum to `plays`; during the initial pulls each is 0 or 1.

        Raise `PurseError` when the policy draws its arm without computing probabilities.
        """
        with self._lock:
            out = np.zeros(self.problem.n_arms)
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
        """Write which arms are allowed, where that is said; return whether it is."""
        if arms is None:
            return False
        mask, last = bytearray(self.problem.n_arms), self.problem.n_arms - 1
        for arm in arms:
            if type(arm) is not int or not 0 <= arm <= last:  # at once: it is the usual case
                arm = validation.integer("arms", arm, low=0, high=last)
            mask[arm] = True
        if True not in mask:
            raise invalid("arms", list(arms), "must name at least one arm")
        self._allowed[:] = mask
        return True

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
        # also where the budget cannot cover it: then the outcome says so instead
        initial = self._game.game.initial_rounds > 0 and first >= 0 and bool(owed[first])
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
        most = self.problem.cost_max[list(arms)].sum(axis=0)
        return self.stop != "fit" or bool((most <= self._left_units).all())

    def _next_round(self) -> int:
        if self.t == self._game.game.last_round:
            raise HorizonReached(f"all {self.t} rounds of the horizon have been asked for")
        return self.t + 1

    def _check_skip(self, ticket: Ticket) -> None:
        """Let a round pass that the policy skips where it may; refuse all else that is no arm."""
        if ticket.arm == STOP or (ticket.skipped and not self._game.game.may_skip):
            raise AskRefused(f"{self.name} has ended the game after {self.t} rounds")
        if not ticket.skipped:
            raise PurseError(
                f"{self.name} chose no arm, or one that does not exist or is not allowed, in round "
                f"{ticket.t}"
            )

    def ask(self, arms: Sequence[int] | None = None, context: Any = None) -> Ticket:
        """Return a ticket for the next round, and hold the most that its arms may cost.

        arms      the arms that may be played; None: all of them
        context   the values of the features, by name or in order, where there are features; with
                  `per_arm` a list with those of each arm

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
            seen: tuple[float, ...] = ()
            if self.features.each or context is not None:
                seen = self.features.encode(context)
                self._see(seen)
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
                    round_with_mask = Round(t, chosen, probs, self._masked_arms())
                    self._open[ticket.id] = ticket, round_with_mask
                else:
                    self._open[ticket.id] = ticket, again
                if self._sees:
                    self._contexts[ticket.id] = seen
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
                if outcome == INITIAL:
                    self._initial.add(t)
            self._next_id += 1
            return ticket
        finally:
            self._lock.release()

    def _see(self, numbers: Sequence[float]) -> None:
        """Write the numbers of a context where the policy looks at them."""
        if self._sees:
            self._buffer.write_context(numbers)

    def _masked_arms(self) -> tuple[int, ...]:
        return tuple(np.flatnonzero(~self._game.workspace.allowed).tolist())

    def _write_round(self, issued: Round) -> None:
        space, skipped = self._game.workspace, self.problem.plays - len(issued.arms)
        space.arms[:] = [*issued.arms, *[SKIP] * skipped]
        space.probs[:] = [*issued.probabilities, *[1.0] * skipped]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the policy to a file, whole or not at all.

        `Policy.load` continues from the file bit for bit.
        """
        with self._lock:
            problem = {
                field.name: getattr(self.problem, field.name)
                for field in fields(self.problem)
                if field.name != "per_arm" or self.problem.per_arm
            }
            facts = {
                "problem": {
                    name: value.tolist() if isinstance(value, np.ndarray) else value
                    for name, value in problem.items()
                },
                "tickets": list(self._open.values()),
                "again": list(self._again),
                **({"features": self.features.as_dict()} if self.features else {}),
                **({"contexts": list(self._contexts.items())} if self._contexts else {}),
                "owed": self._game.workspace.owed.tolist(),
                "initial": sorted(self._initial),
                "left": self.left_units,
                **{name: getattr(self, name) for name in _SAVED},
                "name": absolute(self.name),
            }
            save_file.save(path, facts, self.state._asdict())

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, allow_policy_file: bool = False) -> Policy:
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
            return cls._restore(facts, arrays)
        except DAMAGE as error:
            detail = str(error) if isinstance(error, InvalidInput) else "it is not a saved policy"
            raise InvalidInput(f"cannot load {str(path)!r}: {detail}") from error

    @classmethod
    def _restore(cls, facts: dict[str, Any], arrays: dict[str, Any]) -> Policy:
        known: dict[str, Any] = {
            name: np.array(value) if isinstance(value, list) else value
            for name, value in facts["problem"].items()
        }
        problem = Problem(**known)
        check_problem(problem)
        check_numbers(facts)
        features = Features.of(
            facts.get("features"), n_arms=problem.n_arms, per_arm=problem.per_arm
        )
        if features.n_columns != problem.n_features:
            raise InvalidInput("its features do not fit its problem")
        policy = cls.__new__(cls)
        policy._begin(facts["name"], replace(problem, stop=facts["stop"]), facts["seed"], features)
        for name in _SAVED:
            setattr(policy, name, facts[name])
        if layout(policy.state._asdict()) != layout(arrays):
            raise InvalidInput(
                f"it holds a state of {policy.name} that this version of the policy does not have"
            )
        for name, array in arrays.items():
            getattr(policy.state, name)[...] = array
        policy._open = {
            ticket[0]: (
                Ticket(*ticket[:2], *map(tuple, ticket[2:])),
                None if issued is None else Round.read(issued),
            )
            for ticket, issued in facts["tickets"]
        }
        if not all(policy._can_be_open(ticket) for ticket in policy.tickets):
            raise InvalidInput("it holds a ticket that does not fit its problem")
        if policy._sees:
            policy._contexts = {
                number: check_context(problem, seen) for number, seen in facts.get("contexts", [])
            }
            if policy._contexts.keys() != policy._open.keys():
                raise InvalidInput("it holds a context without a ticket, or none for a ticket")
        policy._left_units[:] = facts["left"]
        check_account(policy)
        policy._again = deque(map(Round.read, facts["again"]))
        for again in policy._again:
            check_round(problem, again)
        policy._initial = set(facts["initial"])
        policy._game.workspace.owed[:] = facts["owed"]
        if policy._counts_pending:
            for ticket in policy.tickets:
                policy._count_pending(ticket.arms, 1)
        return policy


def unnamed(problem: Problem) -> Features:
    """Return features without names or ranges, as many as a problem has."""
    each = tuple(Feature(f"x{k}") for k in range(problem.n_features))
    return Features(each, problem.per_arm, problem.n_arms)


def file_of(module: ModuleType) -> str | None:
    """Return the file of a policy that is not one of ours."""
    return (
        None
        if module.__name__.startswith(f"{policies.__name__}.")
        else getattr(module, "__file__", None)
    )
