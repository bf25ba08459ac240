"""Users' own policies and worlds: Python files, loaded by their path."""

from __future__ import annotations

import importlib.util
import sys
from hashlib import sha256
from pathlib import Path
from traceback import extract_tb
from types import ModuleType

from purse.errors import InvalidInput


def load_module(kind: str, path: Path) -> ModuleType:
    """Return the module in this file, a policy or a world; it is loaded again if it has changed."""
    if not path.is_file():
        raise InvalidInput(f"{kind} file {str(path)!r} does not exist")
    name, source = (
        f"{path.stem}_{sha256(str(path.resolve()).encode()).hexdigest()[:8]}",
        path.read_bytes(),
    )
    loaded = sys.modules.get(name)
    if loaded is not None and loaded._source == source:
        return loaded
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InvalidInput(f"{kind} file {str(path)!r} does not load")
    module = importlib.util.module_from_spec(spec)
    # before it runs: numba looks its classes up here when it reads its cache
    sys.modules[name] = module
    try:
        # not through the loader, whose cache may miss a quick edit
        exec(compile(source, str(path), "exec"), module.__dict__)
    except Exception as error:
        del sys.modules[name]
        raise InvalidInput(
            f"{kind} file {str(path)!r} does not load: {_line(error, path)}"
            f"{type(error).__name__}: {error}"
        ) from error
    vars(module)["_source"] = source
    return module


def _line(error: Exception, path: Path) -> str:
    """Return "line 12: " if the error arose in this file."""
    steps = [step for step in extract_tb(error.__traceback__) if step.filename == str(path)]
    return f"line {steps[-1].lineno}: " if steps else ""
