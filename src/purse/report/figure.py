"""How pictures for the documentation look."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from purse.base.files import write_atomically

# Okabe and Ito's colours, which colour-blind readers can tell apart, in an order that also differs
# in lightness
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
MARKERS = "osD^vPX*"
STYLE: dict[Any, Any] = {
    "svg.hashsalt": "purse",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def save(figure: Any, path: Path) -> None:
    """Write the figure in the format of the file's ending, without the date, so that equal results
    give equal files.
    """
    metadata = {"Date": None} if path.suffix == ".svg" else {"Software": None}
    write_atomically(
        path, lambda file: figure.savefig(file, format=path.suffix[1:], dpi=160, metadata=metadata)
    )
