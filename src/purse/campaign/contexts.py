"""Contexts of asks: encoded where they come in, and kept in the journal as they were seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import orjson

from purse.campaign.journal import CLIPPED as CLIPPED
from purse.campaign.journal import CONTEXT as CONTEXT
from purse.errors import InvalidInput, invalid
from purse.features import LARGEST, Features

if TYPE_CHECKING:
    from purse.campaign.terms import Terms


class Context(NamedTuple):
    """What is known of a round, as an entry has it."""

    # (F,) without the constant; 32-bit floats, as their shortest decimals
    numbers: list[float]
    clipped: int = 0  # values outside their declared ranges

    def as_body(self) -> dict[str, Any]:
        """Return what the ticket of an entry has of it."""
        more = {CLIPPED: self.clipped} if self.clipped else {}
        return {CONTEXT: self.numbers, **more}


def read_context(terms: Terms, context: Any) -> Context | None:
    """Return the context of an ask; None where no features are declared.

    Raise `InvalidInput` where it does not fit the features.
    """
    features = terms.context
    numbers = features.encode(context)
    if not features:
        return None
    return Context(shortest(numbers), features.count_clipped(context))


def read_contexts(terms: Terms, n: int, contexts: Any) -> list[Context] | None:
    """Return the contexts of an ask for n tickets; None where no features are declared.

    Raise `InvalidInput` where there are more or fewer, or one does not fit the features.
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
    read = (read_context(terms, each) for each in contexts)
    return [each for each in read if each is not None]


def shortest(numbers: Sequence[float]) -> list[float]:
    """Return 32-bit floats as the numbers with the fewest decimals that round to them.

    >>> shortest([float(np.float32(0.1)), -1.0])
    [0.1, -1.0]
    """
    exact = np.array(numbers, np.float32)
    short: list[float] = orjson.loads(orjson.dumps(exact, option=orjson.OPT_SERIALIZE_NUMPY))
    # a decimal next to the middle of two floats may be rounded twice on its way back
    return short if (np.array(short, np.float32) == exact).all() else list(numbers)


def check_contexts(features: Features, n: int, contexts: Sequence[Context]) -> None:
    """Refuse contexts of another number or length than an ask needs."""
    size = features.n_columns
    if not size or len(contexts) != n or any(len(each.numbers) != size for each in contexts):
        raise InvalidInput(f"contexts: must be {n} of {size} numbers each")


def check_numbers(numbers: Iterable[Any]) -> None:
    """Refuse what no context holds."""
    for number in numbers:
        if type(number) not in (int, float) or not isfinite(number) or abs(number) > LARGEST:
            raise invalid("context", number, f"must be numbers from -{LARGEST:g} to {LARGEST:g}")
