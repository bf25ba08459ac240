"""The inputs of an ask besides its number of tickets: arms, contexts and labels."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
import orjson

from purse.base import amounts
from purse.campaign.api.journal import CLIPPED as CLIPPED
from purse.campaign.api.journal import CONTEXT as CONTEXT
from purse.campaign.ledger.limits import Label
from purse.campaign.ledger.records import Balance, Move, apply_move
from purse.campaign.terms.readers import MOST_KEYS, check_number, checked_key, is_text
from purse.campaign.terms.terms import Terms
from purse.errors import InvalidInput, invalid, unknown
from purse.features import LARGEST

_ALLOWED, _FORBIDDEN, _MOST = "allowed", "forbidden", "most"  # the words of an entry


class Mask(NamedTuple):
    """Arms by their numbers, in order."""

    allowed: tuple[int, ...]
    maxima: tuple[tuple[int, tuple[int, ...]], ...] = ()  # (arm, units of each resource), if given

    def as_body(self, n_arms: int) -> dict[str, Any]:
        """Return the mask as an entry has it, in its shorter form."""
        forbidden = [arm for arm in range(n_arms) if arm not in set(self.allowed)]
        body: dict[str, Any] = (
            {_FORBIDDEN: forbidden}
            if len(forbidden) < len(self.allowed)
            else {_ALLOWED: list(self.allowed)}
        )
        if self.maxima:
            body[_MOST] = [[arm, list(units)] for arm, units in self.maxima]
        return body


def from_body(body: Mapping[str, Any], n_arms: int) -> Mask:
    """Return a mask from an entry."""
    allowed = body.get(_ALLOWED)
    if allowed is None:
        forbidden = set(body[_FORBIDDEN])
        allowed = [arm for arm in range(n_arms) if arm not in forbidden]
    return Mask(tuple(allowed), tuple((arm, tuple(units)) for arm, units in body.get(_MOST, ())))


def read_mask(terms: Terms, arms: Any, names: Sequence[str]) -> Mask | None:
    """Return the mask from a list of names, or from {name: the most that this call may cost}.

    Raise `InvalidInput` if `arms` names no arm, or one that does not exist.
    """
    if arms is None:
        return None
    if not isinstance(arms, Mapping) and (isinstance(arms, str) or not isinstance(arms, Sequence)):
        raise invalid("arms", arms, "must be a list of names, or {name: the most it may cost}")
    if not arms:
        raise invalid("arms", arms, "must name at least one arm")
    check_number("arms", arms)
    indices = {name: index for index, name in enumerate(names)}
    for name in arms:
        if not isinstance(name, str) or name not in indices:
            arm, _, amount = str(name).rpartition("=")
            if arm in indices:
                hint = f"must be a name; {{{arm!r}: {amount!r}}}, or --most {name}, also says"
                raise invalid("arms", name, f"{hint} the most that it may cost in this ask")
            raise unknown("arm in arms", str(name), names)
    allowed = tuple(sorted({indices[name] for name in arms}))
    if not isinstance(arms, Mapping):
        return Mask(allowed)
    maxima = {
        indices[name]: terms.amounts(f"arms[{name!r}]", amount, low=0)
        for name, amount in arms.items()
    }
    return Mask(allowed, tuple(sorted(maxima.items())))


def check_most(mask: Mask, names: Sequence[str], cost_max: Sequence[Sequence[int]]) -> None:
    """Raise `InvalidInput` if a call may cost more than its arm ever does."""
    for arm, units in mask.maxima:
        for wanted, maximum in zip(units, cost_max[arm], strict=True):
            if wanted > maximum:
                raise InvalidInput(
                    f"arms[{names[arm]!r}]={amounts.text(wanted)}: must be at most the arm's "
                    f"maximum, {amounts.text(maximum)}"
                )


class Context(NamedTuple):
    """The context of a round, as an entry has it."""

    # (F,) without the constant; 32-bit floats, as their shortest decimals
    numbers: list[float]
    clipped: int = 0  # values outside their declared ranges

    def as_body(self) -> dict[str, Any]:
        """Return the context's fields in an `asked` entry."""
        more = {CLIPPED: self.clipped} if self.clipped else {}
        return {CONTEXT: self.numbers, **more}


def read_context(terms: Terms, context: Any) -> Context | None:
    """Return the context of an ask; None if no features are declared.

    Raise `InvalidInput` if the context does not fit the features.
    """
    features = terms.context
    numbers = features.encode(context)
    if not features:
        return None
    return Context(_shortest(numbers), features.count_clipped(context))


def read_contexts(terms: Terms, n: int, contexts: Any) -> list[Context] | None:
    """Return the contexts of an ask for n tickets; None if no features are declared.

    Raise `InvalidInput` if their number is another one, or a context does not fit the features.
    """
    features = terms.context
    if not features:
        if contexts is not None:
            raise invalid("contexts", contexts, "must be left out; no features are declared")
        return None
    if contexts is None:
        raise InvalidInput(f"contexts: are missing; the features are {', '.join(features.names)}")
    if isinstance(contexts, (str, Mapping)) or not isinstance(contexts, (Sequence, np.ndarray)):
        raise invalid("contexts", contexts, "must be a list, with a context for each ticket")
    if len(contexts) != n:
        raise invalid("contexts", len(contexts), f"must be as many as tickets are asked for, {n}")
    read = (read_context(terms, context) for context in contexts)
    return [context for context in read if context is not None]


def _shortest(numbers: Sequence[float]) -> list[float]:
    """Return 32-bit floats as the numbers with the fewest decimals that round to them.

    >>> _shortest([float(np.float32(0.1)), -1.0])
    [0.1, -1.0]
    """
    exact = np.array(numbers, np.float32)
    short: list[float] = orjson.loads(orjson.dumps(exact, option=orjson.OPT_SERIALIZE_NUMPY))
    # a decimal next to the middle of two floats may be rounded twice on its way back
    return short if (np.array(short, np.float32) == exact).all() else list(numbers)


def check_numbers(numbers: Iterable[Any]) -> None:
    """Refuse what no context holds."""
    for number in numbers:
        if type(number) not in (int, float) or not isfinite(number) or abs(number) > LARGEST:
            raise invalid("context", number, f"must be numbers from -{LARGEST:g} to {LARGEST:g}")


MOST_LISTED = 10_000  # labels whose sums are returned at once
LONGEST_VALUE = 200  # characters


class Sums:
    """The bookings of each label since this object was made: a balance without a budget."""

    def __init__(self) -> None:
        self.rows: dict[Label, tuple[int, list[Balance]]] = {}  # tickets, and each resource

    def book(self, labels: Mapping[str, str], tickets: int, move: Move) -> None:
        """Add tickets, and what they have moved of each resource."""
        for label in labels.items():
            before, sums = self.rows.get(label, (0, [Balance()] * len(move)))
            self.rows[label] = before + tickets, apply_move(sums, move)

    def listed(self) -> Iterator[tuple[Any, ...]]:
        """Yield key, value, resource, tickets and counters of each label."""
        for label, (tickets, balances) in self.rows.items():
            for resource, balance in enumerate(balances):
                yield (*label, resource, tickets, *balance)


def read_labels(labels: Any) -> dict[str, str] | None:
    """Return the labels of an ask in the order of their keys; None if an ask has no labels.

    Raise `InvalidInput` if a label is not short text, or if there are too many.
    """
    if labels is None:
        return None
    if not isinstance(labels, Mapping) or len(labels) > MOST_KEYS:
        raise invalid("labels", labels, f"must be at most {MOST_KEYS} keys with their values")
    for key, value in labels.items():
        checked_key("labels", key)
        if not is_text(value, LONGEST_VALUE):
            allowed = f"must be text of 1 to {LONGEST_VALUE} printable characters"
            raise invalid(f"labels[{key!r}]", value, allowed)
    return {key: labels[key] for key in sorted(labels)} or None


def check_keys(keys: Iterable[str], before: Sequence[str]) -> None:
    """Raise `InvalidInput` if a campaign would have too many keys of labels."""
    new = [key for key in keys if key not in before]
    if len(before) + len(new) > MOST_KEYS:
        allowed = f"must be one of the {MOST_KEYS} keys that a campaign has at most"
        raise invalid("labels", new[0], f"{allowed}: {', '.join(sorted(before))}")
