"""The errors that purse raises on purpose: each is a `PurseError` whose message says what to do."""

from collections.abc import Iterable, Sequence

_LONG = 1_000  # entries of what is not shown in an error


class PurseError(Exception):
    """The base class of all errors of this package."""

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython and Jupyter show: the caller's own and the message."""
        import os  # here: `import purse` does without it
        import traceback

        folder = os.path.dirname(__file__) + os.sep
        frames = traceback.extract_tb(self.__traceback__)
        own = [
            frame
            for frame in frames
            if not frame.filename.startswith(folder) and "IPython" not in frame.filename
        ]
        return [*traceback.format_list(own), f"{type(self).__name__}: {self}"]


class InvalidInput(PurseError, ValueError):
    """A value that is not allowed; the message names the field, the value and what is allowed."""


class AskRefused(PurseError):
    """An ask that gets no ticket, because no further round can be asked for."""


class BudgetExhausted(AskRefused):
    """An ask that gets no ticket, because the rest of the budget cannot cover the pull."""

    # units of each resource that were needed, if so much is not left even without holds
    need: Sequence[int] | None = None


class BudgetHeld(BudgetExhausted):
    """An ask that gets no ticket, because holds of open tickets leave too little of the budget.

    The pull may fit once open tickets are told or voided.
    """


class LabelExhausted(BudgetExhausted):
    """An ask that gets no ticket, because one of its labels has too little left of its limit.

    key, value   the label
    left         of each resource, as decimal text
    """

    def __init__(self, text: str, key: str = "", value: str = "", left: Sequence[str] = ()) -> None:
        super().__init__(text)
        self.key, self.value, self.left = key, value, tuple(left)


class LabelHeld(LabelExhausted, BudgetHeld):
    """The same, because of holds of open tickets with this label.

    The pull may fit once they are told or voided.
    """


class ArmsCoolingDown(AskRefused):
    """An ask that gets no ticket, because calls to all arms that it allows failed just now.

    seconds   until the first of them may be tried again
    """

    def __init__(self, text: str, seconds: float = 0.0) -> None:
        super().__init__(text)
        self.seconds = seconds


class HorizonReached(AskRefused):
    """An ask that gets no ticket, because all rounds of the horizon have been asked for."""


class CampaignPaused(AskRefused):
    """An ask that gets no ticket, because the campaign, or an account above it, is paused.

    Reports are accepted.
    """


class CampaignEnded(AskRefused):
    """An ask that gets no ticket, because the campaign, or an account above it, has ended for good.

    Reports are accepted.
    """


class TicketError(PurseError):
    """A ticket that was never issued, or that is finished already."""


class Conflict(PurseError):
    """A request that contradicts an earlier one for the same ticket or `request_id`.

    The earlier request stands.
    """


class NotFound(PurseError):
    """The name of a campaign, or of an account, that does not exist."""


class CampaignExists(PurseError):
    """The name of a new campaign, or of a new account, that is in use already."""


class PolicyFileRefused(PurseError):
    """A campaign that plays a policy file, on a service that runs none."""


class StorageUnavailable(PurseError):
    """A storage or a server that does not answer; a repeat of the request has no second effect."""


class NoSuchStorage(StorageUnavailable):
    """A file with campaigns that does not exist: a repeat of the request is refused, too."""


class MissingExtra(PurseError):
    """A package that a call needs and that is not installed; the message says how to install it."""


def invalid(field: str, value: object, allowed: str) -> InvalidInput:
    """Return the error for a bad value, on one line: `budget=-1: must be positive`."""
    return InvalidInput(f"{field}={shown(value)}: {allowed}")


def shown(value: object) -> str:
    """Return a value as an error shows it, on one line.

    Of a long list or dict it shows the beginning alone: there may be a million entries.

    >>> shown([1] * 10**6)
    '[1, 1, 1, 1, 1, 1, ...]'
    """
    if isinstance(value, (list, tuple, dict)):
        parts = value.values() if isinstance(value, dict) else value
        sizes = [len(part) for part in parts if isinstance(part, (list, tuple, dict, str))]
        if max(len(value), *sizes, 0) > _LONG:
            import reprlib  # here: `import purse` does without it

            return reprlib.repr(value)
    return shorten(" ".join(repr(value).split()))


def shorten(text: str, limit: int = 120) -> str:
    """Return the text, cut to at most `limit` characters."""
    return text if len(text) <= limit else text[: limit - 4] + " ..."


def listed(names: Iterable[str], limit: int = 120) -> str:
    """Return the names, whole ones of at most `limit` characters together, and how many more.

    >>> listed(["length", "model"]), listed(["length", "model", "x" * 9], limit=14)
    ('length, model', 'length, model and 1 more')
    """
    names, size = list(names), 0
    for number, name in enumerate(names):
        size += len(name) + 2
        if number and size - 2 > limit:
            return f"{', '.join(names[:number])} and {len(names) - number} more"
    return ", ".join(names)


def unknown(kind: str, name: str, allowed: Iterable[str]) -> InvalidInput:
    """Return the error for a name that does not exist, with the nearest known name."""
    names, name = sorted(allowed), shorten(name)
    hint = suggest(name, names) or (f"known: {', '.join(names)}" if names else "there are none")
    return InvalidInput(f"unknown {kind} {name!r}; {hint}")


def suggest(name: str, allowed: Iterable[str]) -> str:
    """Return the question for the nearest known name, or no text if no name is near.

    >>> suggest("promts", ["prompts", "ads"]), suggest("zzz", ["prompts", "ads"])
    ("did you mean 'prompts'?", '')
    """
    from difflib import get_close_matches  # here: `import purse` does without it

    near = get_close_matches(name, list(allowed), 1)
    return f"did you mean {near[0]!r}?" if near else ""
