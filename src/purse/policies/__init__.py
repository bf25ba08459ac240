"""One file per policy, found by its name: `exp3++.bwk` is `exp3pp_bwk.py`. Nothing is registered by hand."""

from __future__ import annotations

import importlib.util
import sys
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

from purse.errors import InvalidInput, invalid, unknown

_FOLDER = Path(__file__).parent
_PARTS = ("NAME", "params", "init", "row", "choose", "update")


def names() -> list[str]:
    """The names of all policies that purse ships."""
    return sorted(import_module(f"{__name__}.{info.name}").NAME for info in iter_modules([str(_FOLDER)]))


def load(name: str | ModuleType) -> ModuleType:
    """The policy's module, from its name, from the path of a file that ends in `.py`, or a module that is loaded already."""
    if isinstance(name, ModuleType):
        module = name
    elif not isinstance(name, str):
        raise invalid("policy", name, "must be a name, the path of a policy file or a module")
    elif name.endswith(".py"):
        module = _from_file(Path(name))
    else:
        stem = name.replace("+", "p").replace(".", "_").replace("-", "_")
        if not (_FOLDER / f"{stem}.py").is_file():
            raise unknown("policy", name, names())
        module = import_module(f"{__name__}.{stem}")
        if name != module.NAME:
            raise unknown("policy", name, names())
    if missing := [part for part in _PARTS if not hasattr(module, part)]:
        raise InvalidInput(f"{getattr(module, '__file__', module)} is not a policy: it has no {', '.join(missing)}")
    return module


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise InvalidInput(f"policy file {str(path)!r} does not exist")
    name, source = f"{path.stem}_{sha256(str(path.resolve()).encode()).hexdigest()[:8]}", path.read_bytes()
    known = sys.modules.get(name)
    if known is not None and known._source == source:
        return known
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InvalidInput(f"policy file {str(path)!r} does not load")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # before it runs: numba looks its classes up here when it reads its cache
    try:
        exec(compile(source, str(path), "exec"), module.__dict__)  # not through the loader, whose cache may miss a quick edit
    except Exception as error:
        del sys.modules[name]
        raise InvalidInput(f"policy file {str(path)!r} does not load: {type(error).__name__}: {error}") from error
    vars(module)["_source"] = source
    return module
