"""Pages from the code: every policy and world from its docstring, the public names and the commands
from theirs.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import api
import click
import glossary

from purse import policies, worlds
from purse.cli import cli


def write(folder: Path) -> None:
    """Write the generated pages; all of them lie in folders of their own."""
    shelf = {name: policies.load(name) for name in policies.names()}
    write_pages(
        folder / "policies", {name: inspect.getdoc(module) or "" for name, module in shelf.items()}
    )
    write_pages(folder / "worlds", {name: world_page(name) for name in worlds.names()})
    reference = folder / "reference"
    reference.mkdir(exist_ok=True)
    api.write(reference)
    (reference / "glossary.md").write_text(glossary.page())
    (reference / "commands.md").write_text(command_page())


def write_pages(folder: Path, texts: dict[str, str]) -> None:
    """A page for each name, and an index of them."""
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{slug(name)}.md").write_text(f"# {name}\n\n{markdown(text)}\n")
    rows = "\n".join(
        f"| [`{name}`]({slug(name)}.md) | {text.strip().splitlines()[0]} |"
        for name, text in texts.items()
    )
    entries = "\n".join(slug(name) for name in texts)
    index = (
        f"# {folder.name.capitalize()}\n\n| | "
        f"|\n|---|---|\n{rows}\n\n```{{toctree}}\n:hidden:\n\n{entries}\n```\n"
    )
    (folder / "index.md").write_text(index)


def slug(name: str) -> str:
    """The name as a file name."""
    return name.replace("+", "p").replace(".", "-")


def world_page(name: str) -> str:
    """A world's module docstring, its function's signature and docstring, and an example."""
    function = worlds.function(name)
    module = inspect.getmodule(function)
    assert module is not None
    parts = [
        module.__doc__,
        signature(name, function),
        inspect.getdoc(function),
        "As text, with an example of its options:",
        f"    {worlds.example(name)}",
    ]
    return "\n\n".join(part or "" for part in parts)


def signature(name: str, function: object) -> str:
    """How it is called, as a fenced line."""
    assert callable(function)
    parameters = [
        re.sub(r": [^=]+?(?= = |$)", "", str(each))
        for each in inspect.signature(function).parameters.values()
        if each.name != "self"
    ]
    return f"```python\n{name}({', '.join(parameters)})\n```"


def markdown(text: str) -> str:
    """A docstring as Markdown: it nearly is; doctests become blocks of code."""
    lines, inside = [], False
    for line in text.strip().splitlines():
        if line.startswith(">>>") and not inside:
            lines += ["```pycon", line]
            inside = True
        elif inside and not line.strip():
            lines += ["```", ""]
            inside = False
        else:
            lines.append(line)
    return "\n".join(lines + ["```"] * inside)


def command_page() -> str:
    """The help of every command."""
    parts = ["# Command line"]
    for name, command in commands("purse", cli):
        words = click.Context(command, info_name=name, max_content_width=100)
        parts.append(f"## {name}\n\n```text\n{command.get_help(words)}\n```")
    return "\n\n".join(parts) + "\n"


def commands(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    """A command and all below it, by what is typed."""
    yield name, command
    for word, below in command.commands.items() if isinstance(command, click.Group) else ():
        yield from commands(f"{name} {word}", below)
