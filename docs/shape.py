"""The shape of the code in figures: a mirror, not a gate. `make shape` prints it.

A row is a package: all that lies in it, and `own`, the files of its folder. A room is its direct
child, a file or a folder; an arrow is an import of one room by another, late ones and those of
types included; floors are the longest chain. An arrow `up` closes a circle.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

BY_NAME = ("purse.policies.", "purse.worlds.")  # whose public names are found by name
# words that say nothing about what a name holds
BARE = "place most seen least given rest asked told its kept found made taken known each said"
FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
LONG_FILE = 400  # lines
Arrows = Mapping[str, set[str]]  # room -> rooms that it imports
Uses = Mapping[str, list[tuple[str, str]]]  # module -> (module, name) that it imports


def count_floors(arrows: Arrows) -> tuple[int, list[str]]:
    """Return the number of floors, and the arrows that run up."""
    reach = {room: set(below) for room, below in arrows.items()}
    for below in [*reach.values()] * len(reach):
        below.update(*(reach[room] for room in list(below)))

    def arrows_up(order: list[str]) -> list[str]:
        pairs = ((room, other) for room in order for other in sorted(arrows[room]))
        return [f"{a} -> {b}" for a, b in pairs if order.index(b) < order.index(a)]

    # exact if there is no circle; else one room after another is moved to where it fits best
    order: list[str] = []
    trial = sorted(arrows, key=lambda room: (-len(reach[room]), room))
    while not order or len(arrows_up(trial)) < len(arrows_up(order)):
        order, trials = trial, []
        for room in order if arrows_up(order) else ():
            others = [other for other in order if other != room]
            trials += [[*others[:n], room, *others[n:]] for n in range(len(order))]
        trial = min(trials, key=lambda one: len(arrows_up(one)), default=order)
    floors: dict[str, int] = {}
    for room in reversed(order):
        floors[room] = 1 + max((floors[b] for b in arrows[room] if b in floors), default=0)
    return max(floors.values(), default=0), arrows_up(order)


def imports(tree: ast.AST, modules: Mapping[str, Path]) -> list[tuple[str, str]]:
    """Return the modules that a file imports from, with the name of each thing; "" for all."""
    pairs = []
    for node in ast.walk(tree):
        for name in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
            source = getattr(node, "module", None) or ""  # relative imports are not used
            full = f"{source}.{name.name}".strip(".")
            pairs.append((full, "") if full in modules else (source, name.name))
    return pairs


def header_lines(tree: ast.Module, lines: int) -> int:
    """Return the lines of a file before its first definition: its docstring and imports."""
    for node in tree.body:
        if not isinstance(node, ast.Import | ast.ImportFrom | ast.Expr | ast.If):
            return min(part.lineno for part in ast.walk(node) if hasattr(part, "lineno")) - 1
    return lines


def find_modules(root: Path) -> dict[str, Path]:
    """Return the modules of the package and of research, with their files."""
    modules = {}
    for base, folder in ((root / "src", "purse"), (root, "research")):
        for path in sorted((base / folder).rglob("*.py")):
            parts = path.relative_to(base).with_suffix("").parts
            modules[".".join(parts).removesuffix(".__init__")] = path
    return modules


def package_row(
    package: str, modules: Mapping[str, Path], uses: Uses, lines: Mapping[str, int]
) -> str:
    """Return the row of a package."""
    inside = [m for m in modules if m == package or m.startswith(f"{package}.")]
    rooms = {m: m[len(package) + 1 :].split(".")[0] for m in inside if m != package}
    arrows: dict[str, set[str]] = {room: set() for room in rooms.values()}
    for module, room in rooms.items():
        arrows[room] |= {rooms[other] for other, _ in uses[module] if other in rooms} - {room}
    floors, up = count_floors(arrows)
    own = sum(modules[m].parent == modules[package].parent for m in inside)
    size = f"{sum(lines[m] for m in inside):8,}{len(inside):6}{own:6}"
    form = f"{len(arrows):6}{floors:7}{sum(map(len, arrows.values())):7}{len(up):4}"
    return f"{package:28}{size}{form}  {', '.join(up[:3])}".rstrip()


def bound_names(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node binds: a variable, or a function with its parameters."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, FUNCTION):
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        yield node.name
        yield from (part.arg for part in arguments if part.arg not in ("self", "cls"))


def unread_names(trees: Mapping[str, ast.Module], uses: Uses) -> tuple[int, int]:
    """Return how many public names no other file reads, and how many there are."""
    public = {
        (module, node.name)
        for module, tree in trees.items()
        if not module.startswith(BY_NAME)
        for node in tree.body
        if isinstance(node, FUNCTION | ast.ClassDef) and node.name[0] != "_"
    }
    read = {pair for pairs in uses.values() for pair in pairs}
    for tree in trees.values():
        imported = {}  # module by the name that it has in this file
        for node in ast.walk(tree):
            for name in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
                full = f"{getattr(node, 'module', None) or ''}.{name.name}".strip(".")
                imported[name.asname or name.name] = full
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                read.add((imported.get(node.value.id, ""), node.attr))
    return len(public - read), len(public)


def whole(
    root: Path, modules: Mapping[str, Path], uses: Uses, trees: Mapping[str, ast.Module]
) -> dict[str, object]:
    """Return the figures of the whole package, by title."""
    nodes = [node for tree in trees.values() for node in ast.walk(tree)]
    names = [name for node in nodes for name in bound_names(node)]
    functions = (node for node in nodes if isinstance(node, FUNCTION))
    texts = (ast.get_docstring(node) or "" for node in functions)
    bare = Counter(name for name in names if name.strip("_") in BARE.split())
    lines = {module: modules[module].read_text().count("\n") for module in trees}
    total, headers = sum(lines.values()), sum(header_lines(trees[m], lines[m]) for m in trees)
    source = root / "src" / "purse"
    folders = Counter(str(modules[m].parent.relative_to(source)) for m in trees)
    often = [", ".join(f"{key} {n}" for key, n in part.most_common(6)) for part in (folders, bare)]
    unread, public = unread_names(trees, uses)
    return {
        "lines, files, folders of src": f"{total:,}, {len(trees)}, {len(folders)}",
        "files of a folder: mean; most": f"{len(trees) / len(folders):.1f}; {often[0]}",
        "public names read by no other file": f"{unread} of {public:,}",
        "bare words of 1,000 bound names": f"{1000 * bare.total() / len(names):.1f}: {often[1]}",
        'docstrings "Return what"': sum(text.startswith("Return what") for text in texts),
        f"files over {LONG_FILE} lines": sum(count > LONG_FILE for count in lines.values()),
        "share of header lines": f"{headers / total:.1%}",
    }


def main(root: Path) -> None:
    """Print the table of packages, then the figures of the whole."""
    modules = find_modules(root)
    trees = {module: ast.parse(path.read_text()) for module, path in modules.items()}
    uses = {module: imports(tree, modules) for module, tree in trees.items()}
    lines = {module: path.read_text().count("\n") for module, path in modules.items()}
    print(f"{'package':28}   lines files   own rooms floors arrows  up")
    for package in (m for m, path in modules.items() if path.name == "__init__.py"):
        print(package_row(package, modules, uses, lines))
    of_purse = {module: tree for module, tree in trees.items() if module.startswith("purse")}
    figures = whole(root, modules, {module: uses[module] for module in of_purse}, of_purse)
    print(*(f"{title:36}{value}" for title, value in figures.items()), sep="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
