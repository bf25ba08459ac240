"""Mathematics of the documentation site as MathML, which browsers draw by themselves: no script and
no network. docutils translates it from LaTeX when the site is built.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

FENCE = re.compile(r"<mo>([{}⌊⌋⌈⌉⟨⟩‖])</mo>")


def mathml(text: str, **how: bool) -> str:
    """Return LaTeX as MathML; fences are higher than a line only in a formula with a `left`.

    docutils says so of parentheses; without it a brace is as high as what stands beside it.
    """
    drawn = tex2mathml(text, **how)
    return drawn if r"\left" in text else FENCE.sub(r'<mo stretchy="false">\1</mo>', drawn)


def inline(writer: Any, node: nodes.math) -> None:
    """Write mathematics within a line."""
    writer.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def displayed(writer: Any, node: nodes.math_block) -> None:
    """Write mathematics in a line of its own, which scrolls if it is too wide for the page."""
    writer.body.append(f'<div class="math">{mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, Any]:
    """Tell Sphinx of it."""
    app.add_html_math_renderer("mathml", (inline, None), (displayed, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
