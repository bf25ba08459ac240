"""Random sequences of calls on a live policy, held against a ledger written from the promises
alone: integers and dicts.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from purse import AskRefused, BudgetExhausted, InvalidInput, Policy
from purse.errors import HorizonReached, TicketError
from purse.lab import Ticket
from tests.live.games import (
    ALL_THERE_IS,
    BAD_COSTS,
    BAD_REWARDS,
    ONE_MORE,
    UNIT,
    Out,
    Waiting,
    clamp,
    cost_parts,
    games,
    learner_of,
    picks,
    rewards,
    written,
)
from tests.live.test_policy import STOP_RULES, standing
from tests.support.soak import scale

RULES = settings(
    max_examples=scale(10, 200), stateful_step_count=scale(30, 60), deadline=None, derandomize=True
)


class LiveMachine(RuleBasedStateMachine):
    name: ClassVar[str]
    stop: ClassVar[str]

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        self.game = game = data.draw(games(self.name))
        self.policy = game.policy(self.stop)
        self.stranger = game.policy("exit", seed=1).ask()
        dearest = [max(arm[m] for arm in game.high) for m in range(game.resources)]
        cheapest = min(arm[0] for arm in game.low)
        self.learner = learner_of(
            game.name, game.n_arms, cheapest / dearest[0], game.budget[0] / dearest[0]
        )
        self.dearest = dearest
        self.t = 0
        self.gain = 0.0
        self.over = False
        self.spent = [0] * game.resources
        self.open: dict[int, Out] = {}
        self.finished: list[Ticket] = []
        self.waiting: dict[int, Waiting] = {}
        self.saves = 0

    @property
    def left(self) -> list[int]:
        held = [
            sum(out.ticket.held_units[m] for out in self.open.values())
            for m in range(self.game.resources)
        ]
        return [
            budget - spent - hold
            for budget, spent, hold in zip(self.game.budget, self.spent, held, strict=True)
        ]

    @property
    def no_more_rounds(self) -> bool:
        return not self.waiting and self.t == self.game.horizon

    def standing(self) -> Any:
        return standing(self.policy, chances=not self.no_more_rounds)

    def nothing_changes(self, error: type[Exception], call: Any, *arguments: Any) -> None:
        before = self.standing()
        with pytest.raises(error) as caught:
            call(*arguments)
        assert "\n" not in str(caught.value)
        assert self.standing() == before

    def report(
        self, ticket: Ticket, reward: list[float], parts: list[int]
    ) -> tuple[list[float], list[list[int]]]:
        """A legal one: rewards per play, and units per play and resource."""
        game = self.game
        rest = [left + hold for left, hold in zip(self.left, ticket.held_units, strict=True)]
        costs = []
        for k, arm in enumerate(ticket.arms):
            bounds = zip(game.low[arm], game.high[arm], rest, parts[2 * k :], strict=False)
            costs.append(
                [
                    clamp(
                        low,
                        high,
                        {ALL_THERE_IS: left, ONE_MORE: left + 1}.get(
                            part, low + (high - low) * part // 1000
                        ),
                    )
                    for low, high, left, part in bounds
                ]
            )
            rest = [left - cost for left, cost in zip(rest, costs[-1], strict=True)]
        return reward[: game.plays], costs

    def shaped(self, reward: list[Any], costs: list[list[Any]]) -> tuple[Any, Any]:
        """As a user would write it: numbers where there is one, lists where there are several."""
        per_play = costs if self.game.resources > 1 else [cost[0] for cost in costs]
        return (reward, per_play) if self.game.plays > 1 else (reward[0], per_play[0])

    def pick(self, which: int) -> Out:
        return list(self.open.values())[which % len(self.open)]

    @rule(times=st.integers(1, 3))
    def ask(self, times: int) -> None:
        for _ in range(times):
            self.ask_once()

    def ask_once(self) -> None:
        if self.over or self.no_more_rounds:
            self.nothing_changes(BudgetExhausted if self.over else HorizonReached, self.policy.ask)
            return
        before = self.standing()
        try:
            ticket = self.policy.ask()
        except BudgetExhausted:
            self.check_refusal(before)
        else:
            self.check_ticket(ticket, before[0])

    def check_refusal(self, before: Any) -> None:
        assert self.stop == "hold"
        assert self.standing() == before
        possible = [arm for arm, chance in enumerate(before[0]) if chance > 0]
        most = [
            sum(sorted(self.game.high[arm][m] for arm in possible)[-self.game.plays :])
            for m in range(self.game.resources)
        ]
        assert any(need > left for need, left in zip(most, self.left, strict=True))

    def check_ticket(self, ticket: Ticket, chances: list[float]) -> None:
        assert ticket.id not in self.open
        assert ticket.id not in [finished.id for finished in self.finished]
        assert len(set(ticket.arms)) == self.game.plays
        assert ticket.arm == ticket.arms[0]
        assert ticket.probability == ticket.probabilities[0]
        assert all(chances[arm] > 0 for arm in ticket.arms)
        tried: frozenset[int] = frozenset()
        if self.waiting:
            tried = self.check_asked_again(ticket, self.waiting.pop(ticket.t))
        else:
            self.t += 1
            assert ticket.t == self.t
            assert ticket.probabilities == pytest.approx(
                [chances[arm] for arm in ticket.arms], rel=1e-12
            )
        hold = [
            sum(self.game.high[arm][m] for arm in ticket.arms) if self.stop == "hold" else 0
            for m in range(self.game.resources)
        ]
        assert ticket.held_units == tuple(hold)
        assert all(units <= left for units, left in zip(hold, self.left, strict=True))
        self.open[ticket.id] = Out(ticket, tried)

    def check_asked_again(self, ticket: Ticket, waiting: Waiting) -> frozenset[int]:
        (earlier, tried), replace = waiting
        if not replace:
            assert (ticket.arms, ticket.probabilities) == (earlier.arms, earlier.probabilities)
            return tried
        (gone,), (fresh,) = (
            set(earlier.arms) - set(ticket.arms),
            set(ticket.arms) - set(earlier.arms),
        )
        candidates = set(range(self.game.n_arms)) - tried - set(earlier.arms)
        assert fresh in candidates
        assert ticket.probabilities[ticket.arms.index(fresh)] == 1 / len(candidates)
        return tried | {gone}

    @precondition(lambda self: self.open)
    @rule(which=picks, reward=rewards, parts=cost_parts, exact=st.booleans())
    def tell(self, which: int, reward: list[float], parts: list[int], exact: bool) -> None:
        self.tell_once(self.pick(which), reward, parts, exact)

    @rule(times=st.integers(1, 6), reward=rewards, parts=cost_parts)
    def ask_and_tell(self, times: int, reward: list[float], parts: list[int]) -> None:
        for _ in range(times):
            self.ask_once()
            if self.open:
                self.tell_once(self.pick(-1), reward, parts, exact=True)

    def tell_once(self, out: Out, reward: list[float], parts: list[int], exact: bool) -> None:
        ticket = out.ticket
        gained, costs = self.report(ticket, reward, parts)
        fits = self.fits(ticket, costs)
        given = self.shaped(gained, self.given(costs, exact))
        assert self.policy.tell(ticket, *given) is fits
        self.take(out, gained, costs, fits)

    def given(self, costs: list[list[int]], exact: bool) -> list[list[Any]]:
        return [[written(units) if exact else units / UNIT for units in cost] for cost in costs]

    def needs(self, costs: list[list[int]]) -> list[int]:
        return [sum(cost[m] for cost in costs) for m in range(self.game.resources)]

    def fits(self, ticket: Ticket, costs: list[list[int]]) -> bool:
        return all(
            need <= left + hold
            for need, left, hold in zip(
                self.needs(costs), self.left, ticket.held_units, strict=True
            )
        )

    def take(self, out: Out, gained: list[float], costs: list[list[int]], fits: bool) -> None:
        ticket = out.ticket
        if not fits:
            self.refuse(out)
            return
        self.spent = [
            spent + need for spent, need in zip(self.spent, self.needs(costs), strict=True)
        ]
        self.finish(out)
        self.gain += sum(gained)
        for arm, chance, won, cost in zip(
            ticket.arms, ticket.probabilities, gained, costs, strict=True
        ):
            self.learner.learn(ticket.t, arm, chance, won, cost[0] / self.dearest[0])

    def refuse(self, out: Out) -> None:
        """A cost that does not fit."""
        self.finish(out)
        if self.stop == "retry" and len(out.tried.union(out.ticket.arms)) < self.game.n_arms:
            self.waiting[out.ticket.t] = Waiting(out, replace=True)
        else:
            self.over = True

    @precondition(lambda self: self.open)
    @rule(which=picks)
    def void(self, which: int) -> None:
        out = self.pick(which)
        self.policy.void(out.ticket)
        self.finish(out)
        if out.ticket.t <= self.game.sweep:  # an initial pull comes again
            self.waiting[out.ticket.t] = Waiting(out, replace=False)

    def finish(self, out: Out) -> None:
        del self.open[out.ticket.id]
        self.finished.append(out.ticket)

    @precondition(lambda self: self.open)
    @rule(
        which=picks,
        kind=st.sampled_from([*Ticket._fields, "finished", "foreign"]),
        reward=rewards,
        parts=cost_parts,
    )
    def use_a_wrong_ticket(
        self, which: int, kind: str, reward: list[float], parts: list[int]
    ) -> None:
        ticket = self.pick(which).ticket
        wrong = {
            "id": ticket._replace(id=ticket.id + 1000),
            "t": ticket._replace(t=ticket.t + 1),
            "arms": ticket._replace(arms=tuple((arm + 1) % 5 for arm in ticket.arms)),
            "probabilities": ticket._replace(
                probabilities=tuple(chance / 2 for chance in ticket.probabilities)
            ),
            "held_units": ticket._replace(
                held_units=tuple(units + 1 for units in ticket.held_units)
            ),
            "finished": self.finished[which % len(self.finished)]
            if self.finished
            else self.stranger,
            "foreign": self.stranger,
        }[kind]
        if wrong in self.policy.tickets:
            return
        gained, costs = self.report(ticket, reward, parts)
        given = self.shaped(gained, [[written(units) for units in cost] for cost in costs])
        self.nothing_changes(TicketError, self.policy.tell, wrong, *given)
        self.nothing_changes(TicketError, self.policy.void, wrong)

    @precondition(lambda self: self.open)
    @rule(
        which=picks,
        where=picks,
        bad=st.sampled_from(BAD_REWARDS + BAD_COSTS),
        reward=rewards,
        parts=cost_parts,
    )
    def tell_what_cannot_be(
        self, which: int, where: int, bad: tuple[str, Any], reward: list[float], parts: list[int]
    ) -> None:
        ticket = self.pick(which).ticket
        gained, units = self.report(ticket, reward, parts)
        spoilt: list[Any] = list(gained)
        costs: list[list[Any]] = [[written(unit) for unit in cost] for cost in units]
        k, m = where % self.game.plays, where % self.game.resources
        low, high = self.game.low[ticket.arms[k]][m], self.game.high[ticket.arms[k]][m]
        match bad:
            case "reward", value:
                spoilt[k] = value
            case "cost", value:
                costs[k][m] = {"too low": written(low - 1), "too high": written(high + 1)}.get(
                    value, value
                )
        self.nothing_changes(InvalidInput, self.policy.tell, ticket, *self.shaped(spoilt, costs))

    @precondition(lambda self: self.saves < 3)
    @rule()
    def save_and_load(self) -> None:
        self.saves += 1
        with TemporaryDirectory() as folder:
            path = Path(folder, "policy.npz")
            self.policy.save(path)
            before, saved = self.standing(), self.policy
            probe, self.policy = Policy.load(path), Policy.load(path)
        assert self.standing() == before
        assert outcome(probe) == outcome(saved)

    @invariant()
    def books_agree(self) -> None:
        policy, left = self.policy, self.left
        assert min(left) >= 0
        assert policy.left_units == left
        assert policy.spent_units == self.spent
        held = [
            budget - spent - rest
            for budget, spent, rest in zip(self.game.budget, self.spent, left, strict=True)
        ]
        for shown, units in ((policy.left, left), (policy.spent, self.spent), (policy.held, held)):
            assert np.ravel(shown).tolist() == [unit / UNIT for unit in units]
        assert policy.tickets == [out.ticket for out in self.open.values()]
        assert policy.t == self.t
        assert policy.gain == pytest.approx(self.gain, abs=1e-9)
        assert bool(policy.over) is self.over

    @invariant()
    def learnt_from_paid_pulls_alone(self) -> None:
        if self.no_more_rounds:
            return
        chances = self.policy.probabilities()
        if self.waiting:
            assert (
                sorted(chances.tolist())
                == [0.0] * (self.game.n_arms - self.game.plays) + [1.0] * self.game.plays
            )
        elif self.t < self.game.sweep:
            assert chances.tolist() == [float(arm == self.t) for arm in range(self.game.n_arms)]
        else:
            expected = self.game.plays * self.learner.probabilities(self.t + 1)
            assert chances == pytest.approx(expected, rel=1e-9, abs=1e-12)

    def teardown(self) -> None:
        if not hasattr(self, "policy"):
            return
        for ticket in self.policy.tickets:
            self.policy.void(ticket)
        assert self.policy.tickets == []
        assert self.policy.left_units == [
            budget - spent for budget, spent in zip(self.game.budget, self.spent, strict=True)
        ]


def outcome(policy: Policy) -> Any:
    try:
        return policy.ask()
    except AskRefused as error:
        return type(error), str(error)


@pytest.mark.parametrize("stop", STOP_RULES)
@pytest.mark.parametrize("name", ["uniform", "exp3.bwk", "exp3++.bwk"])
def test_no_sequence_of_calls_breaks_the_books(name: str, stop: str) -> None:
    run_state_machine_as_test(
        type("Machine", (LiveMachine,), {"name": name, "stop": stop}), settings=RULES
    )
