"""Pages from the code: every policy and world from its docstring, the public names and the commands
from theirs.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

import api
import click
import glossary
import policy_pages
from docstrings import markdown, prose, summary

from purse import worlds
from purse.base.catalog import grouped
from purse.base.text import code, write_markdown_table
from purse.cli import cli
from purse.service.openapi import document

WIDTH = 86  # characters of a line of help: as many as a page has room for


def write(folder: Path) -> None:
    """Write the generated pages; all of them lie in folders of their own."""
    policy_pages.write(folder / "policies")
    write_worlds(folder / "worlds")
    reference = folder / "reference"
    reference.mkdir(exist_ok=True)
    api.write(reference)
    texts = {"glossary": glossary.page(), "commands": command_page(), "routes": route_page()}
    for name, text in texts.items():
        (reference / f"{name}.md").write_text(text, encoding="utf-8")


def write_worlds(folder: Path) -> None:
    """Write a page for each world, and an index in groups."""
    folder.mkdir(exist_ok=True)
    parts = ["# Worlds"]
    for title, names in grouped(worlds.GROUPS, worlds.names()):
        rows = []
        for name in names:
            (folder / f"{name}.md").write_text(world_page(name), encoding="utf-8")
            about = summary(inspect.getmodule(worlds.function(name)).__doc__)
            rows.append([f"[`{name}`]({name}.md)", prose(about, {})])
        entries = "\n".join(names)
        parts += [
            f"## {title}",
            write_markdown_table(["world", "what it is"], rows),
            f"```{{toctree}}\n:hidden:\n\n{entries}\n```",
        ]
    (folder / "index.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def world_page(name: str) -> str:
    """Return a world's page: what it is, how its function is called, and an example."""
    function = worlds.function(name)
    about = inspect.getmodule(function).__doc__ or ""
    call = f"```{{py:function}} purse.worlds.{name}{api.signature(function)}\n:no-index:\n```"
    parts = [
        f"# {name}",
        markdown(about),
        call,
        markdown(inspect.getdoc(function) or ""),
        "As text, with an example of its options:",
        f"```text\n{worlds.example(name)}\n```",
    ]
    return "\n\n".join(parts) + "\n"


def command_page() -> str:
    """Return the help of every command."""
    parts = ["# Command line"]
    for name, command in commands("purse", cli):
        words = click.Context(
            command, info_name=name, max_content_width=WIDTH, terminal_width=WIDTH
        )
        parts.append(f"## {name}\n\n```text\n{command.get_help(words)}\n```")
    return "\n\n".join(parts) + "\n"


def route_page() -> str:
    """Return every route of the service, with its role and what may be sent."""
    rows = []
    for path, routes in document()["paths"].items():
        for method, route in routes.items():
            body = route.get("requestBody", {}).get("content", {}).get("application/json", {})
            names = [
                part["name"] for part in route.get("parameters", ()) if part.get("in") == "query"
            ]
            names += body.get("schema", {}).get("properties", ())
            fields = ", ".join(map(code, names))
            role = route.get("x-role", "none")
            rows.append([code(f"{method.upper()} {path}"), role, route["summary"], fields])
    about = "`purse serve --openapi` prints the types and examples, too."
    head = ["route", "role", "what it does", "query or body"]
    return f"# Routes of the service\n\n{about}\n\n{write_markdown_table(head, rows)}\n"


def commands(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    """Yield a command and all below it, by what is typed."""
    yield name, command
    for word, below in command.commands.items() if isinstance(command, click.Group) else ():
        yield from commands(f"{name} {word}", below)
