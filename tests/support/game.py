"""A campaign below accounts without a storage: the rules, the fold and a clock that stands still.

Money in these tests is in whole USD; one unit is 1e-9 USD.
"""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from purse.campaign.account import Account
from purse.campaign.campaign import Campaign
from purse.campaign.ledger.campaign_level import CampaignLevel
from purse.campaign.ledger.entry import LedgerEntry
from purse.campaign.ledger.level import Level
from purse.campaign.ledger.records import Balance
from purse.campaign.rules import operators
from purse.campaign.rules.transaction import Transaction
from purse.campaign.terms.arms import PolicyView
from purse.campaign.terms.budget_terms import AccountTerms
from purse.campaign.terms.terms import Terms

START = 1_800_000_000_000  # ms since 1970: 8:00 in UTC
HOUR = 3_600_000  # ms
USD = 10**9  # units
TERMS: dict[str, Any] = {
    "arms": {"red": 4, "green": 1},
    "budget": 10,
    "resources": ["USD"],
    "cost_min": None,
    "horizon": None,
    "seed": 0,
    "policy": "uniform",
    "expires_after": 60,
    "cooldown": 1,
}


def terms_of(**changes: Any) -> Terms:
    return Terms.of({**usual(Campaign), "name": "test", **TERMS, **changes}).begun_at(START)


def account_terms(name: str, budget: Any, **more: Any) -> AccountTerms:
    given = {"name": name, "budget": budget, "resources": ["USD"], **more}
    return AccountTerms.of({**usual(Account), **given}).begun_at(START)


def usual(of: type[Account] | type[Campaign]) -> dict[str, Any]:
    """Return the defaults of all that `create` takes."""
    parameters = inspect.signature(of.create).parameters
    return {name: each.default for name, each in parameters.items()}


class Script:
    """A policy that chooses arms in a given order, again and again, each with probability 1/2."""

    def __init__(self, *arms: int) -> None:
        self.arms = arms
        self.saw: list[PolicyView] = []

    def choose(self, seen: PolicyView) -> tuple[int, float]:
        self.saw.append(seen)
        return self.arms[(seen.t - 1) % len(self.arms)], 0.5

    def probabilities(self, seen: PolicyView) -> list[float]:
        return [0.5, 0.5]

    def begin_period(self, rounds: int) -> None:
        """Have no horizon."""


class Game:
    """One campaign and the accounts above it, which know all their tickets and requests."""

    def __init__(
        self, *accounts: AccountTerms, script: Sequence[int] = (0, 1), **terms: Any
    ) -> None:
        self.now, self.policy = START, Script(*script)
        self.entries: list[tuple[Level, LedgerEntry]] = []
        above: Level | None = None
        for each in accounts:
            above = self.begin(Level(each, above=above))
        made = self.begin(CampaignLevel(terms_of(**terms), above=above))
        assert isinstance(made, CampaignLevel)
        self.campaign = made
        self.accounts = [*made.chain()][:0:-1]  # from the top down

    def begin(self, level: Level) -> Level:
        self.act(lambda transaction: transaction.add("created", level.terms.as_dict()), level)
        return level

    def act(self, decide: Callable[[Transaction], Any], level: Level | None = None) -> Any:
        """Begin the periods that are due, and decide; what a refusal has added stays."""
        transaction = Transaction(level or self.campaign, self.now, self.policy)
        try:
            transaction.renew()
            return decide(transaction)
        finally:
            self.entries += [(added.level, added.entry) for added in transaction.added]

    def do(self, rule: Callable[..., Any], *values: Any, level: Level | None = None) -> Any:
        """Call a rule; return its answer."""
        return self.act(lambda transaction: rule(transaction, *values), level)

    def top_up(self, level: Level, amount: int, request: str) -> None:
        self.do(operators.top_up, [amount * USD], request, level=level)


def money(level: Level) -> str:
    """Return budget, spent, held, presumed and overrun of USD, and what is left."""
    balance: Balance = level.balances[0]
    return " ".join(f"{units / USD:g}" for units in (*balance[:5], balance.left))
