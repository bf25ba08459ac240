"""The script that draws charts in a page: Vega, Vega-Lite and vega-embed in one piece. To put it
together takes seconds, so it is kept in the user's cache.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from purse.base.files import make_folder, write_text
from purse.base.optional import extra
from purse.errors import PurseError


def javascript(vega_lite: str) -> str:
    """The script for a version of Vega-Lite."""
    renderer = extra("vl_convert")
    kept = cache() / f"vega-lite-{vega_lite}-vl-convert-{renderer.__version__}.js"
    with suppress(OSError, UnicodeDecodeError):
        return kept.read_text(encoding="utf-8")
    made = str(renderer.javascript_bundle(vl_version=vega_lite))
    with suppress(PurseError):  # where nothing can be kept, it is made each time
        make_folder(kept.parent)
        write_text(kept, made)
    return made


def cache() -> Path:
    """Where programs keep what they can make again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "purse"
