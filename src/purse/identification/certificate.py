"""The answer of `certificate`: the share of the best that a campaign has earned for certain.

It imports nothing heavy, for the client's sake.
"""

from dataclasses import asdict, dataclass
from typing import Annotated, Any

from purse.base import html
from purse.base.text import format_digits


@dataclass(frozen=True, slots=True)
class Certificate:
    """The share of what the best way to spend the same money could have brought."""

    share: Annotated[
        float | None, "The campaign has earned at least this share. None: nothing is claimed."
    ]
    confidence: Annotated[float, "It is valid whenever and however often one asks."]
    gain: Annotated[float, "The sum of all rewards so far."]
    most: Annotated[
        float | None,
        "With this confidence no way to spend the same money brings more than this, on average. "
        "None: nothing is claimed, or no bound is finite.",
    ]
    notes: Annotated[tuple[str, ...], "Why nothing is claimed, or what is assumed."]

    def as_dict(self) -> dict[str, Any]:
        """Return the certificate as JSON has it."""
        return asdict(self)

    @property
    def answer(self) -> str:
        """The answer in a sentence."""
        if self.share is None:
            return "nothing is certified"
        return (
            f"with {100 * self.confidence:.6g}% confidence at least {int(100 * self.share)}% of "
            "what the best way to spend this money could have brought"
            + ("" if self.most is None else f" ({format_digits(self.gain)} of at most ")
            + ("" if self.most is None else f"{format_digits(self.most)})")
        )

    def __str__(self) -> str:
        """Return the answer, and a line for each note."""
        return "\n".join([self.answer, *(f"  ! {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        """Return the answer and the notes, for notebooks."""
        return "".join(map(html.paragraph, (self.answer, *self.notes)))

    def __repr__(self) -> str:
        """Return the certificate in a line."""
        return f"<Certificate: {self.answer}>"
