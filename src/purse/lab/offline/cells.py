r"""Cells of a text file as numbers: as people and spreadsheets write them.

    0.5   1e-3   1,234.50   1.234,50   1 234   $0.0049   0,5 €   30%   true   no

A column is read as a whole, because one cell may not tell: `1,234` is a thousand where other cells
have a decimal point, and a little more than one where they have decimal commas. Where no cell
tells, it is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import polars as pl

DECIMALS = (",", ".")
TRUTH = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0, "1": 1.0, "0": 0.0}
CURRENCY = r"[$€£¥₹]|(?i:usd|eur|gbp|chf|jpy|inr)"
BLANKS = r"[ '’\x{a0}\x{202f}]"  # between thousands
SPACED = rf"^[-+]?[1-9]\d{{0,2}}(?:{BLANKS}\d{{3}})+(?:[.,]\d+)?$"
POWER = r"(?:[eE][-+]?\d+)?"
# decimal commas with points at thousands, and decimal points with commas at thousands
BY_COMMA = rf"^[-+]?(?:[1-9]\d{{0,2}}(?:\.\d{{3}})+|\d*)(?:,\d+)?{POWER}$"
BY_POINT = r"^[-+]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?$"
EITHER_COMMA, EITHER_POINT = (rf"^[-+]?[1-9]\d{{0,2}}{mark}\d{{3}}$" for mark in (",", r"\."))


class Cells(NamedTuple):
    """A column as numbers."""

    values: pl.Series  # null where a cell is empty or no number
    note: str = ""  # how they were written, if not as numbers usually are
    wrong: tuple[int, str] | None = None  # a row, and what is wrong with it


def read_cells(texts: pl.Series, *, truth: bool = False, decimal: str | None = None) -> Cells:
    """Return a column of texts as numbers.

    truth     whether true, yes, false and no are 1 and 0
    decimal   the mark before decimals; None: as the column tells
    """
    import polars as pl

    texts = texts.str.strip_chars().replace("", None)
    values = texts.cast(pl.Float64, strict=False)
    if decimal != "," and values.null_count() == texts.null_count():
        return Cells(values)
    words = texts.str.to_lowercase()
    if truth and words.drop_nulls().is_in(list(TRUTH)).all():
        return Cells(
            words.replace_strict(TRUTH, default=None, return_dtype=pl.Float64),
            "true and yes are 1, false and no are 0",
        )
    notes = []
    signs = texts.str.extract(f"({CURRENCY})").str.to_lowercase()
    if signs.null_count() < len(signs):
        first, other = signs.drop_nulls()[0], signs.fill_null(signs.drop_nulls()[0])
        if (other != first).any():
            row = int((other != first).arg_max() or 0)
            return Cells(values, wrong=(row, f"must be in {first}, as cells before it are"))
        notes.append(f"{first} is left out")
        texts = texts.str.replace(rf"^([-+]?)\s*(?:{CURRENCY})\s*", "$1")
        texts = texts.str.replace(rf"\s*(?:{CURRENCY})$", "")
    parts = texts.str.ends_with("%")
    if parts.any():
        bare = ~parts.fill_null(True)
        if bare.any():
            row = int(bare.arg_max() or 0)
            return Cells(values, wrong=(row, "must end in %, as other cells of the column do"))
        notes.append("30% is 0.3")
        texts = texts.str.strip_suffix("%").str.strip_chars_end()
    spaced = texts.str.contains(SPACED).fill_null(False)
    if spaced.any():
        notes.append("blanks between thousands are left out")
        bare = texts.str.replace_all(BLANKS, "")
        texts = pl.select(pl.when(spaced).then(bare).otherwise(texts)).to_series()
    mark, wrong = decimal_mark(texts) if decimal is None else (decimal, None)
    if wrong is not None:
        return Cells(values, wrong=wrong)
    usual, thousands = (BY_COMMA, ".") if mark == "," else (BY_POINT, ",")
    fits = texts.str.contains(usual).fill_null(False)
    bare = texts.str.replace_all(thousands, "", literal=True).str.replace(",", ".", literal=True)
    if mark == ",":
        notes.append("commas are decimal commas")
        texts = pl.select(pl.when(fits).then(bare).otherwise(None)).to_series()
    elif fits.any():
        notes.append("commas between thousands are left out")
        texts = pl.select(pl.when(fits).then(bare).otherwise(texts)).to_series()
    values = texts.cast(pl.Float64, strict=False)
    return Cells(values / 100 if parts.any() else values, ", ".join(notes))


def decimal_mark(texts: pl.Series) -> tuple[str, tuple[int, str] | None]:
    """Return the mark before the decimals of a column, or a row with what is wrong with it."""
    comma = texts.str.contains(",").fill_null(False)
    either = texts.str.contains(EITHER_COMMA).fill_null(False)
    by_point = texts.str.contains(BY_POINT).fill_null(False) & ~either
    by_comma = texts.str.contains(BY_COMMA).fill_null(False) & comma & ~either
    point = texts.str.contains(r"\.").fill_null(False) & ~comma
    by_point |= point & ~texts.str.contains(EITHER_POINT).fill_null(False)
    if by_comma.any() and by_point.any():
        rare = by_comma if by_comma.sum() < by_point.sum() else by_point
        has, other = ("comma", "points") if rare is by_comma else ("point", "commas")
        row = int(rare.arg_max() or 0)
        return ".", (row, f"has a decimal {has}, and other cells of the column {other}")
    if by_comma.any():
        return ",", None
    if either.any() and not by_point.any() and not point.any():
        row = int(either.arg_max() or 0)
        text = texts[row]
        small, large = text.replace(",", "."), text.replace(",", "")
        return ".", (row, f"may be {small} or {large}; say which with --decimal , or --decimal .")
    return ".", None
