"""Errors of the compiler as one line: what does not compile, with the user's line in it."""

import ast
import re
from linecache import getline
from pathlib import Path

from purse.errors import shorten

NO_FOLDER = (
    "no folder for compiled code can be written, so every process compiles again; set "
    "NUMBA_CACHE_DIR to a folder that this user may write"
)
_PLACE = re.compile(
    r'(?:at (?P<path>\S+\.py) \((?P<line>\d+)\)|File "(?P<file>[^"]+)", line (\d+))'
)
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")  # numba's, where `colorama` is installed
_ALLOCATES = (
    "a kernel makes an array, a list or a dict, and kernels never allocate; "
    "make it in init or scratch"
)
_HINTS = (
    (
        r"built-in function setitem.*readonly (?:array|span)",
        "a kernel writes an array that is global; keep it in the state",
    ),
    (r"NRT required but not enabled", _ALLOCATES),
    (r"Function\(<built-in function (?:zeros|empty|ones|full|array)>\)", _ALLOCATES),
    (r"(?:DictType|reflected list|ListType|build_list|build_map)", _ALLOCATES),
    (
        r"Untyped global name '(\w+)': Cannot determine Numba type of <class 'function'>",
        r"\1 lacks @kernel",
    ),
    (r"Unknown attribute '(\w+)' of type (\w+)\(.*", r"\2 has no field '\1'"),
)


def explain(message: str, file: str | None) -> str:
    """Return the reason and the line of an error of numba, from its message.

    file   the policy's or world's file; its lines come before ours and numba's
    """
    message = _COLOURS.sub("", message)
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    telling = [line for line in lines if not line.startswith("Failed in")]
    first = telling[0] if telling else "no reason given"
    if len(telling) > 1 and telling[1].startswith(">>>"):  # what was called with which types
        first += telling[1].removeprefix(">>>")
    reason = shorten(first, 300)
    for pattern, hint in _HINTS:
        if match := re.search(pattern, first):
            reason = match.expand(hint)
            break
    return f"{_location(message, file)}{reason}"


def _location(message: str, file: str | None) -> str:
    """Return "line 60, `zz = np.zeros(2)`: " of the innermost place that the message names."""
    places = [
        (match["path"] or match["file"], int(match["line"] or match[4]))
        for match in _PLACE.finditer(message)
    ]
    own = [line for path, line in places if file and Path(path).name == Path(file).name]
    if file and (missing := re.search(r"NameError: name '(\w+)'", message)):
        own = _uses(file, missing[1])  # the message names no place
    if file and own:
        return f"line {own[0]}, `{shorten(getline(file, own[0]).strip(), 80)}`: "
    theirs = [(path, line) for path, line in places if "/numba/" not in path]
    return f"{Path(theirs[0][0]).name}, line {theirs[0][1]}: " if theirs else ""


def _uses(file: str, name: str) -> list[int]:
    """Return the lines of the file whose code uses this name."""
    nodes = ast.walk(ast.parse(Path(file).read_text("utf-8")))
    return sorted(node.lineno for node in nodes if isinstance(node, ast.Name) and node.id == name)
