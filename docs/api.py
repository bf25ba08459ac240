"""The reference of the Python interface: a page for each task, from signatures and docstrings.

A name is on the page of the package that it is defined in. Every class that a documented function
returns is documented, too, with its fields.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Iterator, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from docstrings import comments, markdown, prose, summary, written_types

import purse


class Page(NamedTuple):
    """A page: its title, what it is about, and the packages that it covers."""

    title: str
    about: str
    packages: tuple[str, ...]


PAGES = {
    "spend": Page(
        "Spend a budget",
        "A `Campaign` keeps a budget in a database, for processes and machines that spend it "
        "together; a `Policy` plays in memory.",
        (
            "purse.campaign",
            "purse.asynchronous",
            "purse.integrations.transport",
            "purse.live",
            "purse.identification.recommendation",
            "purse.identification.certificate",
        ),
    ),
    "replay": Page(
        "Replay your data",
        "What policies would have gained on recorded data, and what a log teaches a policy "
        "beforehand.",
        ("purse.lab.replay.replay", "purse.lab.replay", "purse.lab.data"),
    ),
    "simulate": Page(
        "Simulate and compare",
        "Games in simulated worlds: one policy, several of them, and every notion of regret.",
        ("purse.engine", "purse.lab.study", "purse.types", "purse.gym"),
    ),
    "catalog": Page(
        "Policies and worlds by name",
        "[Policies](../policies/index.md) and [worlds](../worlds/index.md) have pages of their "
        "own.",
        ("purse.policies", "purse.worlds"),
    ),
    "theory": Page(
        "Theory", "Optima and bounds that gains are compared with.", ("purse.lab.theory",)
    ),
    "testing": Page(
        "Testing",
        "Checks for policies and worlds of your own: `from purse.testing import ...`.",
        ("purse.testing",),
    ),
    "client": Page(
        "Service client",
        "Campaigns that `purse serve` keeps, from other machines; [HTTP](../http.md) has the "
        "service itself.",
        ("purse.client",),
    ),
    "errors": Page("Errors", "All of them are a `PurseError`.", ("purse.errors",)),
}
ELSEWHERE = {"lab.Ticket": "spend"}  # where the package says otherwise
BESIDE = ("purse.gym.KnapsackEnv", *(f"purse.testing.check_{it}" for it in
          ("policy", "world", "gpu")), "purse.client.Server")  # fmt: skip
INTERNAL = ("purse.base", "purse.features", "purse.campaign.storage", "purse.cli", "purse.kernels",
            "purse.engine.rounds", "purse.lab.figure", "purse.lab.page", "purse.lab.result",
            "purse.service")  # fmt: skip
MADE_BY_USERS = ("KnapsackEnv", "Policy", "Server")  # classes that are called
RETURNED = "What they return"
SPREAD = ("errors", "lab")  # modules whose names are on several pages, without a heading
LONGEST = 40  # characters of a default value that a signature shows


def write(folder: Path) -> None:
    """Write the pages and their index."""
    folder.mkdir(exist_ok=True)
    items = documented()
    links = {f"purse.{label}": f"purse.{label}" for label in items}
    links |= {label.rpartition(".")[2]: full for label, full in zip(items, links, strict=True)}
    for name, page in PAGES.items():
        mine = {label: item for label, item in items.items() if page_of(label, item) == name}
        text = "\n\n".join(page_parts(page, mine, links))
        (folder / f"{name}.md").write_text(text + "\n", encoding="utf-8")
    (folder / "api.md").write_text(index(items), encoding="utf-8")


def documented() -> dict[str, Any]:
    """Return all that is documented, by the name below `purse`."""
    items: dict[str, Any] = {}
    add(items, purse, "")
    for path in BESIDE:
        module, _, name = path.rpartition(".")
        items[path.removeprefix("purse.")] = getattr(importlib.import_module(module), name)
    classes = every_class()
    queue = list(items.values())
    while queue:
        for cls in returned(queue.pop(), classes):
            if cls not in items.values():
                items[cls.__name__] = cls
                queue.append(cls)
    return items


def add(items: dict[str, Any], module: Any, prefix: str) -> None:
    """Add what a module has for users, and the modules in it; a name at the top comes once."""
    modules = {}
    for name in public(module):
        value = getattr(module, name)
        if inspect.ismodule(value):
            modules[name] = value
        elif value not in items.values():
            items[f"{prefix}{name}"] = value
    for name, value in modules.items():
        add(items, value, f"{prefix}{name}.")


def public(module: Any) -> list[str]:
    """Return the names of a module that are for users: those that it names, or its own functions;
    of the errors, the classes.
    """
    kind = inspect.isclass if module is purse.errors else inspect.isfunction
    own = [
        name
        for name, value in vars(module).items()
        if kind(value) and value.__module__ == module.__name__
    ]
    return [name for name in getattr(module, "__all__", own) if name[0] != "_"]


def every_class() -> dict[str, type]:
    """Return the classes of the package by their names."""
    # not all of it: adapters need packages that they adapt
    for part in ("purse.campaign", "purse.lab.data", "purse.lab.replay", "purse.lab.theory"):
        path = importlib.import_module(part).__path__
        for info in pkgutil.walk_packages(path, f"{part}."):
            if not is_internal(info.name):
                importlib.import_module(info.name)
    return {
        value.__name__: value
        for name, module in sorted(sys.modules.items())
        if name.startswith("purse.") and not is_internal(name)
        for value in vars(module).values()
        if isinstance(value, type)
        and value.__module__.startswith("purse.")
        and not is_internal(value.__module__)
        and not value.__name__.startswith("_")
    }


def is_internal(module: str) -> bool:
    """Return whether users never meet what a module defines."""
    return module.startswith(INTERNAL)


def returned(item: Any, classes: dict[str, type]) -> Iterator[type]:
    """Yield the classes that a function returns, or that the members of a class do."""
    if inspect.isfunction(item) or inspect.ismethod(item):
        texts = [written_types(item).get("return", "")]
    elif isinstance(item, type):
        texts = [split_annotated(kind)[0] for kind in fields(item).values()]
        texts += [written_types(target(member)).get("return", "") for _, member in members(item)]
    else:
        texts = []
    for word in dict.fromkeys(re.findall(r"\w+", " ".join(texts))):
        if word in classes:
            yield classes[word]


def page_of(label: str, item: Any) -> str:
    """Return the page of an item: that of the longest package that its module lies in."""
    if label in ELSEWHERE:
        return ELSEWHERE[label]
    matches = [
        (len(package), name)
        for name, page in PAGES.items()
        for package in page.packages
        if f"{item.__module__}.".startswith(f"{package}.")
    ]
    assert matches, f"{label} of {item.__module__} is on no page of the reference"
    return max(matches)[1]


def page_parts(page: Page, items: dict[str, Any], links: dict[str, str]) -> Iterator[str]:
    """Yield the parts of a page: functions and classes, then what they return."""
    yield f"# {page.title}"
    yield prose(page.about, links) if "](" not in page.about else page.about
    yield "```{py:currentmodule} purse\n```"
    direct = {label: item for label, item in items.items() if label in dir(purse) or "." in label}
    kinds = {
        "Functions": {k: v for k, v in direct.items() if not isinstance(v, type)},
        "Classes": {k: v for k, v in direct.items() if isinstance(v, type)},
        RETURNED: {k: v for k, v in items.items() if k not in direct},
    }
    for title, group in kinds.items():
        if group:
            yield f"## {title}"
        if group and title == RETURNED:
            yield "Nobody makes these by hand, so `purse` has no names for them."
        module = None
        for label, item in sorted(group.items(), key=heading_order):
            above = label.rpartition(".")[0]
            if above not in ("", module, *SPREAD):
                module = above
                text = attrgetter(module)(purse).__doc__ or ""
                yield f"### purse.{module}\n\n{markdown(text, links)}"
            yield describe(label, item, links)


def heading_order(pair: tuple[str, Any]) -> tuple[bool, str]:
    """Return the sort key of an item on its page: names of modules come last, under headings."""
    return pair[0].rpartition(".")[0] not in ("", *SPREAD), pair[0].lower()


def describe(label: str, item: Any, links: dict[str, str]) -> str:
    """Return an item as a directive of Sphinx, which makes the anchors and the index."""
    text = markdown(inspect.getdoc(item) or "", links)
    if not isinstance(item, type):
        return directive(5, "function", f"{label}{signature(item)}", text)
    parts = [text]
    remarks = comments(item) if fields(item) else {}
    for name, kind in fields(item).items():
        plain, about = split_annotated(kind)
        about = prose(about or remarks.get(name, ""), links)
        parts.append(directive(4, "attribute", name, about, plain))
    for name, member in members(item):
        doc = markdown(inspect.getdoc(member) or "", links)
        call = target(member)
        if isinstance(inspect.getattr_static(item, name), (property, *CACHED)):
            kind = written_types(call).get("return", "")
            parts.append(directive(4, "attribute", name, doc, kind))
        else:
            parts.append(directive(4, "method", f"{name}{signature(call)}", doc))
    head = (
        signature(inspect.getattr_static(item, "__init__"))
        if label.rpartition(".")[2] in MADE_BY_USERS
        else ""
    )
    kind = "exception" if issubclass(item, Exception) else "class"
    return directive(5, kind, f"{label}{head}", "\n\n".join(parts))


def directive(ticks: int, kind: str, head: str, text: str, type_: str = "") -> str:
    """Return a directive of the Python domain."""
    fence, option = "`" * ticks, f":type: {type_}\n" if type_ else ""
    return f"{fence}{{py:{kind}}} {head}\n{option}\n{text}\n{fence}"


CACHED = (type(inspect.getattr_static(purse.lab.Problem, "c_min")),)


def fields(cls: type) -> dict[str, str]:
    """Return the fields of a dataclass or a named tuple with their types."""
    if not (hasattr(cls, "__dataclass_fields__") or hasattr(cls, "_fields")):
        return {}
    texts = vars(sys.modules[cls.__module__])
    own = written_types(cls).items()
    return {name: spell_out(kind, texts) for name, kind in own if name[0] != "_"}


def spell_out(kind: str, texts: Mapping[str, Any]) -> str:
    """Return the type with its sentence in the place of the constant that holds it.

    >>> spell_out("Annotated[str, WHY]", {"WHY": "A sentence."})
    "Annotated[str, 'A sentence.']"
    """
    named = re.fullmatch(r"(Annotated\[.*), ([A-Z_]+)\]", kind, re.DOTALL)
    return f"{named[1]}, {texts[named[2]]!r}]" if named else kind


def split_annotated(kind: str) -> tuple[str, str]:
    """Return the type and the sentence of `Annotated[type, "sentence"]`; else the type alone.

    >>> split_annotated("Annotated[list[str], 'Names.']")
    ('list[str]', 'Names.')
    """
    tree = ast.parse(kind, mode="eval").body
    if isinstance(tree, ast.Subscript) and ast.unparse(tree.value) == "Annotated":
        assert isinstance(tree.slice, ast.Tuple)
        plain, about, *_ = tree.slice.elts
        return ast.unparse(plain), str(ast.literal_eval(about))
    return kind, ""


def members(cls: type) -> list[tuple[str, Any]]:
    """Return methods and properties of a class that the package defines."""
    methods = []
    for name in dir(cls):
        member = inspect.getattr_static(cls, name)
        call = target(member)
        ours = str(getattr(call, "__module__", "")).startswith("purse")
        if not name.startswith("_") and callable(call) and ours and name not in fields(cls):
            methods.append((name, member))
    return methods


def target(member: Any) -> Any:
    """Return the function behind a method, a property or a class method."""
    if isinstance(member, property):
        return member.fget
    return getattr(member, "func", getattr(member, "__func__", member))


def signature(function: Any) -> str:
    """Return parameters with types and defaults, and the type that is returned."""
    parts, starred = [], False
    called, kinds = inspect.signature(function), written_types(function)
    for parameter in called.parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            parts.append("*")
        starred |= parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        stars = (
            2
            if parameter.kind is parameter.VAR_KEYWORD
            else int(parameter.kind is parameter.VAR_POSITIONAL)
        )
        text = "*" * stars + parameter.name
        if parameter.name in kinds:
            text += f": {kinds[parameter.name]}"
        if parameter.default is not parameter.empty:
            value = repr(parameter.default)
            text += f" = {value if len(value) <= LONGEST else '...'}"
        parts.append(text)
    result = f" -> {kinds['return']}" if "return" in kinds else ""
    return f"({', '.join(parts)}){result}"


def index(items: dict[str, Any]) -> str:
    """Return the index: the tasks, and every name with what it is."""
    lines = [
        "# Python",
        "`purse` has what most programs need, `purse.lab` the rest of simulations and studies, "
        "`purse.lab.theory` optima and bounds, and `purse.errors` the errors that few catch. "
        "Importing `purse` loads nothing heavy.",
        "| to | |\n|---|---|\n"
        + "\n".join(
            f"| [{page.title}]({name}.md) | {page.about} |" for name, page in PAGES.items()
        ),
        "## All names",
    ]
    rows = []
    for label, item in sorted(items.items(), key=lambda pair: pair[0].lower()):
        about = prose(summary(inspect.getdoc(item)), {})
        shown = f"purse.{label}" if label in dir(purse) or "." in label else label
        rows.append(f"| {{py:obj}}`{shown} <purse.{label}>` | {about} |")
    entries = "\n".join(PAGES)
    lines += ["| name | |\n|---|---|\n" + "\n".join(rows)]
    return "\n\n".join([*lines, f"```{{toctree}}\n:hidden:\n\n{entries}\n```"]) + "\n"
