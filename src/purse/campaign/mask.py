"""Which arms an ask allows, and the most that each may cost in this call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from purse.base import amounts
from purse.campaign.read_terms import by_name, check_number
from purse.campaign.terms import Terms
from purse.errors import InvalidInput, invalid, unknown

ALLOWED, FORBIDDEN, MOST = "allowed", "forbidden", "most"  # the words of an entry


class Mask(NamedTuple):
    """Arms by their numbers, in order."""

    allowed: tuple[int, ...]
    most: tuple[tuple[int, tuple[int, ...]], ...] = ()  # (arm, units of each resource), where given

    def as_body(self, n_arms: int) -> dict[str, Any]:
        """Return the mask as an entry has it, in its shorter form."""
        forbidden = [arm for arm in range(n_arms) if arm not in set(self.allowed)]
        body: dict[str, Any] = (
            {FORBIDDEN: forbidden}
            if len(forbidden) < len(self.allowed)
            else {ALLOWED: list(self.allowed)}
        )
        if self.most:
            body[MOST] = [[arm, list(units)] for arm, units in self.most]
        return body


def from_body(body: Mapping[str, Any], n_arms: int) -> Mask:
    """Return a mask from an entry."""
    allowed = body.get(ALLOWED)
    if allowed is None:
        forbidden = set(body[FORBIDDEN])
        allowed = [arm for arm in range(n_arms) if arm not in forbidden]
    return Mask(tuple(allowed), tuple((arm, tuple(units)) for arm, units in body.get(MOST, ())))


def read_mask(terms: Terms, arms: Any, known: Sequence[str]) -> Mask | None:
    """Return the mask from a list of names, or from {name: the most that this call may cost}.

    known   the names of all arms, in order

    Raise `InvalidInput` where it names no arm, or one that does not exist.
    """
    if arms is None:
        return None
    if not isinstance(arms, Mapping) and (isinstance(arms, str) or not isinstance(arms, Sequence)):
        raise invalid("arms", arms, "must be a list of names, or {name: the most it may cost}")
    if not arms:
        raise invalid("arms", arms, "must name at least one arm")
    check_number("arms", arms)
    places = {name: place for place, name in enumerate(known)}
    for name in arms:
        if not isinstance(name, str) or name not in places:
            raise unknown("arm in arms", str(name), known)
    allowed = tuple(sorted({places[name] for name in arms}))
    if not isinstance(arms, Mapping):
        return Mask(allowed)
    given = {places[name]: most_units(terms, name, most) for name, most in arms.items()}
    return Mask(allowed, tuple(sorted(given.items())))


def most_units(terms: Terms, name: str, most: Any) -> tuple[int, ...]:
    """(d,) The most that a call of an arm may cost, in units."""
    field = f"arms[{name!r}]"
    units = amounts.unit_array(field, by_name(field, most, terms.resources, "resource")).ravel()
    if units.size != len(terms.resources):
        raise invalid(
            field,
            most,
            f"must be one amount for each of the resources {', '.join(terms.resources)}",
        )
    if units.min() < 0:
        raise invalid(field, most, "must not be negative")
    return tuple(units.tolist())


def check_most(mask: Mask, names: Sequence[str], cost_max: Sequence[Sequence[int]]) -> None:
    """Raise `InvalidInput` where a call may cost more than its arm ever does."""
    for arm, units in mask.most:
        for given, most in zip(units, cost_max[arm], strict=True):
            if given > most:
                raise InvalidInput(
                    f"arms[{names[arm]!r}]={amounts.text(given)}: must be at most the arm's "
                    f"maximum, {amounts.text(most)}"
                )
