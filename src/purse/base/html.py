"""Tables for notebooks: results show themselves there through `_repr_html_`, in the notebook's own
colours, light or dark.
"""

from collections.abc import Collection, Iterable, Sequence


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    title: str = "",
    texts: Collection[int] = (0,),
) -> str:
    """Return a table under its title; the columns numbered in `texts` are set to the left, the
    others are numbers and set to the right.

    >>> table(["arm", "pulls"], [["<b>", "7"]], texts=())  # doctest: +NORMALIZE_WHITESPACE
    '<table><thead><tr><th style="text-align:right">arm</th><th
    style="text-align:right">pulls</th></tr></thead><tbody><tr>\
<td style="text-align:right">&lt;b&gt;</td><td style="text-align:right">7</td></tr></tbody></table>'
    """

    def line(tag: str, cells: Sequence[str]) -> str:
        sides = ("left" if number in texts else "right" for number in range(len(head)))
        return (
            "<tr>"
            + "".join(
                f'<{tag} style="text-align:{side}">{_escape(cell)}</{tag}>'
                for cell, side in zip(cells, sides, strict=True)
            )
            + "</tr>"
        )

    body = "".join(line("td", row) for row in rows)
    return (
        f"{paragraph(title)}<table><thead>{line('th', head)}</thead><tbody>{body}</tbody></table>"
    )


def picture(svg: str, label: str) -> str:
    """Return a drawing on a white ground, readable on light and dark pages; an image of its own, so
    that no style of the page changes it and several may stand on one page.

    >>> picture("<svg/>", "a & b")
    '<img style="max-width:100%;background:#fff" alt="a &amp; b" \
src="data:image/svg+xml;base64,PHN2Zy8+">'
    """
    from base64 import b64encode

    data = b64encode(svg.encode()).decode()
    look = "max-width:100%;background:#fff"
    return f'<img style="{look}" alt="{_escape(label)}" src="data:image/svg+xml;base64,{data}">'


def paragraph(text: str) -> str:
    """Return a line of text above or below a table, or nothing."""
    return f"<p>{_escape(text)}</p>" if text else ""


def _escape(text: str) -> str:
    from html import escape  # here: a client that shows no table does without its names

    return escape(text)
