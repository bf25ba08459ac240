"""Numbers, counts, lists and tables as text: the one home of what people read.

A mean comes with half its confidence interval, `12 ± 3`. Three rules for digits exist, because a
table of regrets, a table of gains and a column of notions ask for different ones.
"""

import math
import textwrap
from collections.abc import Collection, Iterable, Sequence

_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
MISSING = "—"
_COLUMNS = 80  # of a terminal


def legible(text: str, limit: int) -> str:
    r"""Return the text on one line, without what cannot be printed, cut to `limit` characters.

    >>> legible("502 Bad Gateway\n<html>", 15)
    '502 Bad Gateway'
    """
    printable = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(printable.split())[:limit]


def format_rough(number: float) -> str:
    """Write a number to the nearest whole, or with two digits if it is below one.

    >>> format_rough(1234.5), format_rough(0.0123), format_rough(0)
    ('1,234', '0.012', '0')
    """
    return f"{number:,.0f}" if abs(number) >= 1 or number == 0 else f"{number:.2g}"


def format_digits(number: float) -> str:
    """Write a number with four digits, or with all those before the point.

    >>> format_digits(12.3456), format_digits(123456.7)
    ('12.35', '123,457')
    """
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"


def format_budget(budget: float) -> str:
    """Write a budget as a user gave it, with separated thousands.

    >>> format_budget(2.5), format_budget(1e5)
    ('2.5', '100,000')
    """
    return f"{budget:,.12g}"


def format_known(number: float | None, spec: str, missing: str = MISSING) -> str:
    """Write a number by a format, or a mark if there is no number.

    >>> format_known(0.25, ".1%"), format_known(None, ".1%")
    ('25.0%', '—')
    """
    return missing if number is None else format(number, spec)


def format_mean(mean: float, high: float, spec: str | None = None) -> str:
    """Write a mean with half its interval, both rough or both by a format; alone if the upper
    end is no number.

    >>> format_mean(1234, 1246.4), format_mean(3, math.nan), format_mean(0.25, 0.5, ".2f")
    ('1,234 ± 12', '3', '0.25 ± 0.25')
    """
    mean_text, half_text = (
        format_rough(number) if spec is None else format(number, spec)
        for number in (mean, high - mean)
    )
    return mean_text if math.isnan(high) else f"{mean_text} ± {half_text}"


def format_gain(mean: float, high: float) -> str:
    """Write a mean of four digits with half its interval of two; alone if the mean is exact or has
    no interval.

    >>> format_gain(1234.5, 1357.2), format_gain(12.345, 12.9), format_gain(7, 7)
    ('1,234 ± 123', '12.35 ± 0.55', '7')
    """
    half = high - mean
    if not half > 1e-9 * abs(mean) and not half >= 10:
        return format_digits(mean)
    return f"{format_digits(mean)} ± " + (f"{half:,.0f}" if half >= 10 else f"{half:.2g}")


def split_mean(mean: float, high: float) -> tuple[str, str]:
    """Write a mean and half its interval for two columns: two digits of the half, and the mean to
    the same place.

    >>> split_mean(1234.567, 1234.690), split_mean(7, 7), split_mean(7, math.nan)
    (('1,234.57', '± 0.12'), ('7', '± 0'), ('7', ''))
    """
    half = high - mean
    if not half > 1e-12 * abs(mean):  # what is smaller is rounding
        text = f"{mean:,.6g}" if abs(mean) < 1e6 else f"{mean:,.0f}"
        return text, "" if math.isnan(half) else "± 0"
    places = max(0, 1 - math.floor(math.log10(half)))
    return f"{mean:,.{places}f}", f"± {half:,.{places}f}"


def format_time(seconds: float) -> str:
    """Write a time in the largest unit that it has two of.

    >>> format_time(90), format_time(7200), format_time(-1)
    ('90 s', '2 h', '0 s')
    """
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{max(0.0, seconds):.0f} s"


def count(number: int, one: str, several: str | None = None) -> str:
    """Write how many there are of something, in digits.

    >>> count(1, "path"), count(1000, "path"), count(2, "entry", "entries")
    ('1 path', '1,000 paths', '2 entries')
    """
    return f"{number:,} {one if number == 1 else several or one + 's'}"


def count_in_words(number: int, one: str, several: str | None = None) -> str:
    """Write how many there are of something, up to ten in words.

    >>> count_in_words(2, "policy", "policies"), count_in_words(50, "run")
    ('two policies', '50 runs')
    """
    digits, words = count(number, one, several).split(" ", 1)
    return f"{_WORDS[number] if number < len(_WORDS) else digits} {words}"


def join_words(parts: Iterable[str]) -> str:
    """Write a list as a sentence has it.

    >>> join_words("A"), join_words("ABC")
    ('A', 'A, B and C')
    """
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def first_paragraph(doc: str | None) -> str:
    r"""Write the first paragraph of a docstring as one line.

    >>> first_paragraph("What it\n    is.\n\n    More."), first_paragraph(None)
    ('What it is.', '')
    """
    return " ".join((doc or "").strip().partition("\n\n")[0].split())


def set_minus(text: str) -> str:
    """Replace hyphens by minus signs."""
    return text.replace("-", "−")


def keep_on_line(text: str) -> str:
    """Replace spaces by ones at which no line breaks."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def code(name: str) -> str:
    """Return a name as Markdown code, whatever is in it."""
    return f"`{name}`" if "`" not in name else f"`` {name} ``"


def plain(text: str) -> str:
    """Return a text without marks of Markdown, for terminals."""
    return text.replace("`", "").replace("**", "").replace("\N{NO-BREAK SPACE}", " ")


def fold(text: str) -> str:
    """Break a text into lines that a terminal of 80 columns shows; words stay whole.

    >>> print(fold("word " * 17))
    word word word word word word word word word word word word word word word word
    word
    """
    return textwrap.fill(text, _COLUMNS, break_long_words=False, break_on_hyphens=False)


def align_columns(
    grid: Sequence[Sequence[str]], left: Collection[int] = (0,)
) -> list[tuple[str, ...]]:
    """Pad the cells of a table to the width of their columns; the columns numbered in `left` hold
    words, the others hold numbers and are set to the right.

    >>> align_columns([["arm", "pulls"], ["a", "7"]])
    [('arm', 'pulls'), ('a  ', '    7')]
    """
    columns = []
    for number, column in enumerate(zip(*grid, strict=True)):
        width = max(map(len, column))
        columns.append(
            [cell.ljust(width) if number in left else cell.rjust(width) for cell in column]
        )
    return list(zip(*columns, strict=True))


def write_markdown_table(
    head: Sequence[str], rows: Iterable[Sequence[str]], right: Collection[int] = ()
) -> str:
    """Write a Markdown table; the columns numbered in `right` hold numbers.

    >>> print(write_markdown_table(["arm", "pulls"], [["a", "7"]], right=[1]))
    | arm | pulls |
    | --- | ---: |
    | a | 7 |
    """
    rule = ["---:" if number in right else "---" for number in range(len(head))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rule, *rows))
