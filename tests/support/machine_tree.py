"""The machine in a tree and in periods: campaigns that share accounts, budgets that are renewed,
and a clock that jumps over boundaries, to them, and back.
"""

from dataclasses import astuple
from itertools import count
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from purse import Account, Campaign
from tests.support import reference_ledger
from tests.support.machine_base import DAY, names, periods_as_given, picks, some_periods
from tests.support.machine_verbs import CampaignMachine
from tests.support.reference_ledger import Ledger, Periods, Terms, Units, written
from tests.support.storages import START

JUMPS = [DAY, 3 * DAY, 40 * DAY, -DAY, -9 * DAY]
OWN = ("name", "terms", "campaign", "ledger", "requests")
CAMPAIGNS = 3


class PeriodMachine(CampaignMachine):
    """All verbs, in periods."""

    def draw_terms(self, data: st.DataObject, resources: int | None = None) -> Terms:
        terms = super().draw_terms(data, resources)
        return terms._replace(periods=data.draw(some_periods()))

    @rule(late=st.sampled_from([0, 0, -1, 1]), verb=st.sampled_from(["ask", "expire", "look"]))
    def go_to_the_boundary(self, late: int, verb: str) -> None:
        """To the instant itself, or a moment before or after it; often the next verb is an ask."""
        _, period = self.ledger.shown()
        assert period is not None
        self.harness.clock = period.next + late
        if verb == "ask":
            self.ask_for(1, None)
        elif verb == "expire":
            self.expire_now()

    @rule(ms=st.sampled_from(JUMPS))
    def sleep(self, ms: int) -> None:
        """Over several boundaries, or back over some that were made."""
        self.harness.clock += ms


class TreeMachine(CampaignMachine):
    """One campaign is in use at a time; any of the others may be next."""

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        self.harness.clock = START
        self.random = self.random_of(data)
        first = self.draw_terms(data)
        self.place = self.harness.place()
        self.make_accounts(data, first)
        self.others = list[dict[str, Any]]()
        for number in range(CAMPAIGNS):
            terms = self.draw_terms(data, len(first.resources)) if number else first
            depth = data.draw(st.sampled_from([2, 1, 2, 1, 0])) if number else 2
            self.parent = self.trees[:depth][-1] if depth else None
            self.make(data, terms)
            self.others.append(self.kept())
            self.in_use = number

    def make_accounts(self, data: st.DataObject, terms: Terms) -> None:
        """One, or one and another below it; tight ones, mostly."""
        self.accounts: list[Any] = []
        self.trees: list[reference_ledger.Account] = []
        self.account_requests = count()
        for depth in range(data.draw(st.sampled_from([2, 2, 1]))):
            share = st.sampled_from([1000, 1500, 500, 4000])
            budget = tuple(max(1, units * data.draw(share) // 1000) for units in terms.budget)
            name, parent = f"account-{next(names)}", self.trees[-1] if depth else None
            periods = self.draw_periods(data, budget)
            self.accounts.append(
                Account.create(
                    name,
                    resources=list(terms.resources),
                    budget=[written(units) for units in budget],
                    alerts=[],
                    account=parent.name if parent else None,
                    storage=self.place,
                    **(periods_as_given(periods) if periods else {}),
                )
            )
            self.trees.append(
                reference_ledger.Account(
                    name, terms.resources, budget, self.now, parent, renewed=periods
                )
            )

    def draw_periods(self, data: st.DataObject, budget: Units) -> Periods | None:
        """How an account is renewed: here none is."""
        return None

    def created(self, **terms: Any) -> Any:
        account = {"account": self.parent.name} if self.parent else {}
        return self.harness.create_at(self.place, self.name, **terms, **account)

    def new_ledger(self, terms: Terms) -> Ledger:
        return Ledger(terms, self.now, self.parent)

    def kept(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in OWN}

    @rule(which=st.integers(0, CAMPAIGNS - 1))
    def turn_to(self, which: int) -> None:
        """From now on another campaign is in use."""
        self.others[self.in_use] = self.kept()
        self.in_use = which
        for name, value in self.others[which].items():
            setattr(self, name, value)

    @rule(order=st.permutations(range(CAMPAIGNS)), n=st.sampled_from([1, 1, 3]))
    def all_ask(self, order: list[int], n: int) -> None:
        """Each campaign in turn, for what the others leave."""
        for which in order:
            self.turn_to(which)
            self.ask_for(n, None)

    @rule(which=picks, units=st.sampled_from([1, 500_000_000, 2_000_000_000]), named=st.booleans())
    def top_up_an_account(self, which: int, units: int, named: bool) -> None:
        request_id = f"request-{next(self.account_requests)}" if named else None
        self.top_up_account_with(which, (units,) * len(self.terms.resources), request_id)

    @precondition(lambda self: any(tree.requests for tree in self.trees))
    @rule(which=picks, more=st.sampled_from([0, 0, 1]))
    def top_up_an_account_again(self, which: int, more: int) -> None:
        """In the same words: nothing happens; in others: a conflict."""
        request_id, tree = [(request, tree) for tree in self.trees for request in tree.requests][
            which % sum(len(tree.requests) for tree in self.trees)
        ]
        _, units = tree.requests[request_id]
        again = tuple(unit + more for unit in units)  # type: ignore[attr-defined]
        self.top_up_account_with(self.trees.index(tree), again, request_id)

    def top_up_account_with(self, which: int, units: Units, request_id: str | None) -> None:
        amounts = dict(zip(self.terms.resources, map(written, units), strict=True))
        account, tree = self.pair(which)
        self.same(
            lambda: account.top_up(amounts, request_id), lambda: tree.top_up(units, request_id)
        )

    @rule(which=picks, to=st.sampled_from(["paused", "running", "running"] * 4 + ["ended"]))
    def switch_an_account(self, which: int, to: str) -> None:
        account, tree = self.pair(which)
        verbs = {"paused": account.pause, "running": account.resume, "ended": account.end}
        self.same(verbs[to], lambda: tree.switch(to))

    def pair(self, which: int) -> tuple[Any, reference_ledger.Account]:
        return self.accounts[which % len(self.accounts)], self.trees[which % len(self.trees)]

    @rule(drop=st.booleans())
    def reopen(self, drop: bool) -> None:
        """All of them; where there is a server it is a new one."""
        super().reopen(drop)
        self.place = self.harness.place()
        for other in self.others:
            other["campaign"] = Campaign.open(other["name"], storage=self.place)
        self.accounts = [Account.open(tree.name, storage=self.place) for tree in self.trees]

    @invariant()
    def accounts_agree(self) -> None:
        for account, tree in zip(self.accounts, self.trees, strict=True):
            status = account.status()
            assert min(tree.left) >= 0
            assert [astuple(purse) for purse in status.purses] == tree.purses(), tree.name
            assert (status.status, status.entries) == (tree.state(), tree.entries), tree.name
            self.period_agrees(status, tree)
            kinds = {alarm.kind for alarm in status.alarms}
            assert ("clock" in kinds) == tree.was_ahead(), tree.name

    def teardown(self) -> None:
        if not hasattr(self, "others") or len(self.others) < CAMPAIGNS:
            return
        for which in range(CAMPAIGNS):
            self.turn_to(which)
            self.books_agree()
            self.finish()
        for account, tree in zip(self.accounts, self.trees, strict=True):
            audit = account.audit()
            assert audit.findings == (), (tree.name, audit.findings)
            numbers = [entry.seq for entry in account.journal()]
            assert numbers == list(range(1, tree.entries + 1)), numbers


class PeriodTreeMachine(TreeMachine, PeriodMachine):
    """Refunds of holds that have ended on one level and not on another."""

    def draw_periods(self, data: st.DataObject, budget: Units) -> Periods | None:
        return data.draw(st.one_of(some_periods(), st.none()))

    @rule(which=picks, late=st.sampled_from([0, -1, 1]))
    def go_to_the_boundary_of_an_account(self, which: int, late: int) -> None:
        """To the instant itself, or a moment before or after it."""
        _, period = self.trees[which % len(self.trees)].shown()
        if period is not None:
            self.harness.clock = period.next + late
