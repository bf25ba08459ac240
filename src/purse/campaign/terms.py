"""What a campaign was created with. Terms never change; top-ups are entries of the journal."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from purse.base import amounts, validation
from purse.base.json import compact
from purse.base.spec import absolute
from purse.campaign.by_name import by_name, in_order, names
from purse.engine.job import make_game, make_policy
from purse.engine.rules import initial_rounds
from purse.errors import InvalidInput, invalid
from purse.types import Problem

ID = re.compile(r"[0-9a-f]{16}")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
# what happens to a hold that outlives its deadline
PRESUME, RELEASE = EXPIRY = ("presume", "release")
WEAKER_PROMISE = (
    "on_expiry='release': a hold that outlives its deadline is released, so a call that "
    "was made and reported late, or never, "
    "may have spent money that was given out again; such reports count as overrun, which "
    "the budget does not cover"
)
MOST_SECONDS = 10 * 365 * 86_400


@dataclass(frozen=True)
class Terms:
    """All that defines a campaign; amounts in units of 1e-9. Build it with `Terms.of`, which checks
    and converts.
    """

    name: str
    arms: tuple[str, ...]
    resources: tuple[str, ...]
    budget: tuple[int, ...]  # (d,) at the beginning
    cost_min: tuple[tuple[int, ...], ...]  # (K, d)
    cost_max: tuple[tuple[int, ...], ...]  # (K, d)
    plays: int
    horizon: int | None
    costs: tuple[tuple[int, ...], ...] | None  # (K, d)
    caps: tuple[int, ...] | None  # (K,)
    policy: str
    seed: int
    expires_after: int | None  # milliseconds
    on_expiry: str
    initial_rounds: int  # in which each arm is pulled once, where the policy begins so
    id: str  # tells it from another campaign that had the same name before
    pending: bool = False  # whether the policy counts open tickets
    restored_from: str = ""  # the id of the campaign that this one is a copy of

    @classmethod
    def of(
        cls,
        name: str,
        *,
        arms: Sequence[str] | Mapping[str, Any],
        budget: Any,
        cost_min: Any,
        cost_max: Any,
        resources: Sequence[str],
        plays: int,
        horizon: int | None,
        costs: Any,
        caps: Any,
        policy: str,
        seed: int,
        expires_after: float | None,
        on_expiry: str,
        id: str = "",
    ) -> Terms:
        """Terms from what a user gives: amounts in the user's unit, by position or by the names of
        arms and resources.
        """
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise invalid(
                "name",
                name,
                "must be 1 to 100 letters, digits, dots, dashes or underscores, "
                "beginning with a letter or digit",
            )
        if isinstance(arms, Mapping):
            if cost_max is not None:
                raise invalid(
                    "cost_max",
                    cost_max,
                    "must be left out where arms={name: cost_max, ...} says it already",
                )
            cost_max, arms = dict(arms), list(arms)
        elif cost_max is None:
            raise invalid(
                "cost_max",
                None,
                "must say the most that a pull may cost: one amount, or one for each arm",
            )
        armed, stuff = names("arms", arms), names("resources", resources)
        by_arm = {"cost_min": cost_min, "cost_max": cost_max, "costs": costs, "caps": caps}
        problem = Problem.of(
            n_arms=len(armed),
            budget=by_name("budget", budget, stuff, "resource"),
            n_resources=len(stuff),
            plays=plays,
            horizon=horizon,
            stop="hold",
            **{field: in_order(field, value, armed, stuff) for field, value in by_arm.items()},
        )
        if not isinstance(policy, str):
            raise invalid(
                "policy",
                policy,
                "must be a name such as 'exp3++.bwk:beta=1', or the path of a file: it "
                "has to be found again later",
            )
        module, _ = make_policy(policy, problem)  # refuses what it cannot play
        return cls(
            name,
            armed,
            stuff,
            tuple(problem.budget.tolist()),
            table(problem.cost_min),
            table(problem.cost_max),
            problem.plays,
            problem.horizon,
            None if problem.costs is None else table(problem.costs),
            None if problem.caps is None else tuple(problem.caps.tolist()),
            absolute(policy),
            make_game(module, problem, seed).seed,
            None if expires_after is None else milliseconds("expires_after", expires_after),
            validation.choice("on_expiry", on_expiry, EXPIRY),
            initial_rounds(module, problem.n_arms, problem.plays),
            id or secrets.token_hex(8),
            bool(getattr(module, "PENDING", False)),
        )

    @cached_property
    def problem(self) -> Problem:
        """What the policy is told."""
        return Problem.of(
            n_arms=len(self.arms),
            n_resources=len(self.resources),
            stop="hold",
            **self.in_users_unit(),
        )

    def in_users_unit(self) -> dict[str, Any]:
        """What defines the problem, with amounts as decimal text, which loses nothing."""
        return {
            "budget": [amounts.text(units) for units in self.budget],
            "cost_min": texts(self.cost_min),
            "cost_max": texts(self.cost_max),
            "plays": self.plays,
            "horizon": self.horizon,
            "costs": None if self.costs is None else texts(self.costs),
            "caps": None if self.caps is None else list(self.caps),
        }

    def as_dict(self) -> dict[str, Any]:
        """The terms as JSON has them; what 0.1.0 did not know is left out where it is empty."""
        facts = asdict(self)
        for name in ("pending", "restored_from"):
            if not facts[name]:
                del facts[name]
        return facts

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Terms:
        """Terms as they were written to a journal."""
        try:
            return cls(**{name: frozen(value) for name, value in facts.items()})
        except TypeError as error:
            raise InvalidInput(f"these are not the terms of a campaign: {error}") from None

    def checked(self) -> Terms:
        """The same terms, if they are what `of` would have made of them: for those that come from a
        file. A campaign that began before its policy counted open tickets goes on without a count.
        """
        seconds = None if self.expires_after is None else self.expires_after / 1000
        facts = {**asdict(self), **self.in_users_unit(), "expires_after": seconds}
        del facts["initial_rounds"], facts["pending"], facts["restored_from"]
        made = replace(Terms.of(**facts), restored_from=self.restored_from)
        made = replace(made, pending=made.pending and self.pending is True)
        if (
            not all(isinstance(each, str) for each in (self.id, self.restored_from))
            or not ID.fullmatch(self.id)
            or not ID.fullmatch(self.restored_from or self.id)
            or compact(made.as_dict()) != compact(self.as_dict())
        ):
            raise InvalidInput("these are not the terms of a campaign as they were written")
        return self

    def copied(self, name: str | None) -> Terms:
        """The terms of a copy, under a name, with an id of its own.

        Two campaigns never have the same id, so that nothing meant for one reaches the other.
        """
        return replace(self, name=name or self.name, id=secrets.token_hex(8), restored_from=self.id)

    def amounts(self, field: str, value: Any) -> tuple[int, ...]:
        """(d,) One amount of each resource in units, from one number, a list, or a dict of
        resources.
        """
        units = amounts.unit_array(field, by_name(field, value, self.resources, "resource"))
        if units.ndim > 1 or units.size != len(self.resources):
            raise invalid(
                field,
                value,
                f"must be one amount for each of the resources {', '.join(self.resources)}",
            )
        return tuple(units.ravel().tolist())


def milliseconds(field: str, seconds: float) -> int:
    """A time of at least a millisecond."""
    return max(1, round(validation.number(field, seconds, above=0, high=MOST_SECONDS) * 1000))


def table(units: Any) -> tuple[tuple[int, ...], ...]:
    """An array of units as tuples."""
    return tuple(tuple(row) for row in units.tolist())


def texts(rows: tuple[tuple[int, ...], ...]) -> list[list[str]]:
    """Units as decimal text, which loses nothing."""
    return [[amounts.text(units) for units in row] for row in rows]


def frozen(value: Any) -> Any:
    """Lists as tuples, all the way down."""
    return tuple(map(frozen, value)) if isinstance(value, (list, tuple)) else value
