"""What users have built on: the description of the API, the help of every command and the words of
refusals, as files.

`python -m tests.support.frozen` renews the files; the difference belongs into the changelog.
"""

import json
from collections.abc import Iterator
from copy import copy
from pathlib import Path
from typing import Any

import click

from purse.base.json import compact
from purse.cli import cli

FOLDER = Path(__file__).parent / "frozen"
WIDTH = 100  # columns
TEXTS = ("description", "example", "examples", "summary", "title")


def helps(command: click.Command = cli, path: str = "purse") -> Iterator[tuple[str, str]]:
    """Yield the name of each command and its help, those in groups after their group."""
    command = copy(command)
    command._help_option = None  # which may be from a test without -h
    context = click.Context(
        command, info_name=path, terminal_width=WIDTH, help_option_names=["-h", "--help"]
    )
    yield path, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from helps(found, f"{path} {name}")


def commands() -> str:
    return "\n\n\n".join(text for _, text in helps()) + "\n"


def api() -> str:
    """Return the shape of the API: a line for each operation and each type, without its texts."""
    from purse.service.openapi import document

    described = json.loads(json.dumps(document()))
    lines = [
        f"{method.upper()} {path} {compact(shape(operation))}"
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    ]
    types = described["components"]["schemas"].items()
    lines += [f"{name} {compact(shape(each))}" for name, each in types]
    return "\n".join(sorted(lines)) + "\n"


def shape(part: Any) -> Any:
    """Return a part of the description without texts and examples."""
    if isinstance(part, list):
        return [shape(each) for each in part]
    if not isinstance(part, dict):
        return part
    return {name: shape(part[name]) for name in sorted(part) if name not in TEXTS}


FILES = {"openapi.txt": api, "help.txt": commands}
REFUSALS = "refusals.json"  # of the transcript; `tests/client/test_transcript.py` compares it


def main() -> None:
    from tests.client.test_transcript import in_this_process, refusals

    FOLDER.mkdir(exist_ok=True)
    words = json.dumps(refusals(in_this_process()), indent=0, ensure_ascii=False)
    (FOLDER / REFUSALS).write_text(words + "\n", encoding="utf-8")
    for name, make in FILES.items():
        (FOLDER / name).write_text(make(), encoding="utf-8")


if __name__ == "__main__":
    main()
