"""Docstrings as Markdown: prose that wraps, lists of parameters, and blocks of code."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

# `n_paths, seed    how many, and the seed`: names, at least two spaces, and what they are
ENTRY = re.compile(r"([\w.*`\"'][^\s,]*(?:, ?[\w.*`\"'][^\s,]*)*) {2,}(\S.*)")
NONE: Mapping[str, str] = MappingProxyType({})
EMPHASIS = re.compile(r"(?<![\w*])\*(\w[^*]*\w)\*(?![\w*])")


def markdown(text: str, links: Mapping[str, str] = NONE) -> str:
    """Return a docstring as Markdown; code that is a key of `links` becomes a link to its
    value.
    """
    blocks = re.split(r"\n\s*\n", inspect.cleandoc(text).strip("\n"))
    return "\n\n".join(block(paragraph, links) for paragraph in blocks)


def block(text: str, links: Mapping[str, str]) -> str:
    """Return a paragraph, a list of parameters, a table, an example or a formula."""
    lines = text.splitlines()
    if lines[0].lstrip().startswith(">>>"):
        return fence("pycon", inspect.cleandoc(text))
    if lines[0].startswith("    "):
        return fence("text", textwrap.dedent(text))
    if lines[0].startswith("|"):
        return text
    starts = [line for line in lines if not line.startswith(" ")]
    if all(ENTRY.fullmatch(line) for line in starts):
        return parameters(lines, links)
    # on one line, because a line that begins with "+" or "-" would become an item of a list
    return prose(text if lines[0].startswith("- ") else " ".join(lines), links)


def fence(language: str, code: str) -> str:
    """Return a block of code."""
    return f"```{language}\n{code}\n```"


def parameters(lines: list[str], links: Mapping[str, str]) -> str:
    """Return aligned entries as a list: names as code, then what they are."""
    entries: list[tuple[str, list[str]]] = []
    for line in lines:
        match = ENTRY.fullmatch(line)
        if match and not line.startswith(" "):
            entries.append((match[1], [match[2]]))
        else:
            entries[-1][1].append(line.strip())
    return "\n".join(
        f"- {code_names(names)}: {prose(' '.join(words), links)}" for names, words in entries
    )


def code_names(names: str) -> str:
    """Return names that commas divide, each as code."""
    return ", ".join(f"`{name.strip('` ')}`" for name in names.split(","))


def prose(text: str, links: Mapping[str, str]) -> str:
    """Return prose in which Markdown changes no sign, with links to what is documented."""
    parts = re.split(r"(`[^`]*`)", text)
    for index, part in enumerate(parts):
        if not part.startswith("`"):
            spared = EMPHASIS.sub("\0\\1\0", part)
            parts[index] = re.sub(r"([*_<|])", r"\\\1", spared).replace("\0", "*")
        elif (name := part.strip("`")) in links:
            parts[index] = f"{{py:obj}}`{name} <{links[name]}>`"
    return "".join(parts)


def summary(text: str | None) -> str:
    """Return the first sentence or paragraph of a docstring, on one line."""
    return (inspect.cleandoc(text or "").split("\n\n")[0]).replace("\n", " ")


def written_types(item: Any) -> dict[str, str]:
    """Return the types of a function's parameters, with "return", or those of a class's fields, as
    its file has them.
    """
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(item))).body
    nodes: dict[str, ast.expr | None] = {}
    if isinstance(tree, ast.ClassDef):
        own = [node for node in tree.body if isinstance(node, ast.AnnAssign)]
        nodes = {ast.unparse(node.target): node.annotation for node in own}
    elif isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef):
        every = [node for node in ast.walk(tree.args) if isinstance(node, ast.arg)]
        nodes = {node.arg: node.annotation for node in every} | {"return": tree.returns}
    # a type in quotes is one that the file defines later
    texts = {name: ast.unparse(node) for name, node in nodes.items() if node}
    return {name: text.strip("'") for name, text in texts.items()}


def comments(cls: type) -> dict[str, str]:
    """Return the comment on each field of a class: the one behind it or above it."""
    source = textwrap.dedent(inspect.getsource(cls))
    lines = source.splitlines()
    fields = {}
    (tree,) = ast.parse(source).body
    assert isinstance(tree, ast.ClassDef)
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            line = lines[(node.end_lineno or node.lineno) - 1]
            behind = line[node.end_col_offset or 0 :].partition("#")[2].strip()
            above: list[str] = []
            number = node.lineno - 2
            while number >= 0 and lines[number].strip().startswith("#"):
                above.insert(0, lines[number].strip().lstrip("# "))
                number -= 1
            fields[node.target.id] = " ".join(filter(None, [*above, behind]))
    return fields
