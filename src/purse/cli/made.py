"""Commands made from methods: arguments from the signature, help from the docstring."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from purse.campaign.api import kinds
from purse.campaign.api.kinds import SECONDS, Kind, kind_of, once, pair
from purse.campaign.api.verb import NONE, TEXT, WANTED, Argument, argument_text, arguments_of
from purse.campaign.budget import Budget
from purse.cli import complete
from purse.cli.options import for_machines, stored
from purse.cli.show import COLUMNS, lines, show
from purse.client.server import Server
from purse.errors import InvalidInput

OF = "of"  # the argument that names the campaign or the account
_FLAGS = {"n": "-n", "request_id": "--request"}  # those that are not made from the name
_COMPLETED = {"account": complete.accounts, "policy": complete.policies}
_IN_PYTHON, _SEVERAL = (
    f"for several resources {words}" for words in ("a list, or {resource: amount}", "as 0.01,500")
)
_SEEN = "the values of the features, such as length=812,code=0, as JSON"
_HELP = {  # of arguments that Python takes in other shapes
    "acknowledged": "file with the numbers of tickets whose reports were acknowledged, one in each "
    "line",
    "budget": f"the amount that may be spent in all, or in each period; {_SEVERAL}",
    "context": f"{_SEEN}, or in a JSON file",
    "contexts": f"{_SEEN}, or in a JSON file; repeat it for each ticket",
    "features": 'what a context holds: names, their number, or JSON such as {"length": [0, 8000], '
    '"source": ["chat", "code"]}; None: no contexts',
    "labels": "what the call is for, such as tenant=acme, which stays in the journal",
    "noted": "length and digest of the journal that an earlier status showed",
    "reward_range": "the least and the largest reward, such as 0,20 for revenue; None: 0,1",
}
_ALLOWED, _ARMS, _TIME = map(kind_of, (kinds.Allowed, kinds.Arms, kinds.Seconds))
_OF_ARMS = {
    _ALLOWED: "arm that may be chosen; repeat it for several; None: all arms",
    _ARMS: f"arm and the most that a pull of it may cost, {_SEVERAL}; repeat it for each arm",
}
_PLAIN = ("ARM", "TICKET")  # words that need no help
_IN_FILES = [kind_of(kinds.Context), kind_of(kinds.Contexts)]  # those that @FILE may hold
_MOST = click.Option(
    ["--most"],
    multiple=True,
    metavar="NAME=COST",
    help="Arm that may be chosen and the most that this call of it may cost, which is held; "
    "repeat it for each arm.",
)
_OTHERWISE = re.compile(f"{NONE}([^.;]*)")
_PRINTED = re.compile("(, and|;) print .*")  # what the list of commands leaves out
_QUOTED = re.compile("`(\\w+)`")


def command(
    of: type[Budget[Any]],
    method: str,
    name: str = "",
    *,
    call: Callable[..., Any] | None = None,
    columns: str = "",
    own: Mapping[str, tuple[Kind, str]] | None = None,
    without: Sequence[str] = (),
) -> click.Command:
    """Return the command that calls a method of a campaign or an account, and prints its result.

    The first argument stands alone if it has to be given, and the others are options.

    call      what is called instead of the method
    columns   of the table that is printed; the default is that of the list's name
    own       kinds and texts of arguments that are typed in another way than elsewhere
    without   arguments that cannot be typed
    """
    function = getattr(of, method)
    arguments = {key: one for key, one in arguments_of(function).items() if key not in without}
    for own_name, (kind, words) in (own or {}).items():
        arguments[own_name] = arguments[own_name]._replace(kind=kind, text=words)
    terms = arguments_of(of.create)  # type: ignore[attr-defined]
    row = getattr(function, "row", None)
    key = row.key if row else method
    is_new = inspect.ismethod(function)  # a class method: `create`
    do = call or function

    def run(storage: str, as_json: bool, **typed: Any) -> None:
        whose, given = typed.pop(OF, ""), read(arguments, typed)
        if is_new:
            result = do(**given, storage=storage).status()
        else:
            result = do(opened(of, whose, storage), **given)
        show(result, as_json, key, columns or key)

    flags = {key: _flag(argument) for key, argument in {**terms, **arguments}.items()}
    params: list[click.Parameter] = [] if is_new else [name_of(of)]
    words = _as_typed(_text_of(function), flags) + lines(COLUMNS.get(columns or key, ()))
    for place, argument in enumerate(arguments.values()):
        if place == 0 and argument.default is WANTED:
            params.append(_alone(argument))
            if not is_new and argument.kind.metavar not in _PLAIN:
                words += f"\n\n{argument.kind.metavar}: {_help_of(of, argument, flags)}"
        else:
            params += _options(of, argument, flags)
    title = name or method.strip("_").replace("_", "-")
    short = _PRINTED.sub(".", " ".join(words.partition("\n\n")[0].split()))
    plain = click.Command(title, callback=run, params=params, help=words, short_help=short)
    return stored(for_machines(plain))


def name_of(of: type[Budget[Any]], *, required: bool = True) -> click.Argument:
    """Return the argument that names a campaign or an account."""
    completed = getattr(complete, f"{of.KIND}s")
    metavar = "NAME" if required else "[NAME]"
    return click.Argument([OF], metavar=metavar, required=required, shell_complete=completed)


def _alone(argument: Argument) -> click.Argument:
    """Return an argument that needs no flag."""
    name, metavar = [argument.name], argument.kind.metavar
    if argument.kind.one:
        return click.Argument(name, metavar=f"[{metavar}]...", nargs=-1)
    return click.Argument(name, metavar=metavar)


def _flag(argument: Argument) -> str:
    """Return what is typed before an argument."""
    return _FLAGS.get(argument.name, "--" + (argument.kind.one or argument.name).replace("_", "-"))


def _options(
    of: type[Budget[Any]], argument: Argument, flags: Mapping[str, str]
) -> Iterator[click.Option]:
    """Yield the option of an argument; arms that may be chosen have two."""
    words = _help_of(of, argument, flags)
    if argument.default is False:
        yield click.Option([flags[argument.name], argument.name], is_flag=True, help=words)
        return
    metavar = argument.kind.metavar + "|@FILE" * (argument.kind in _IN_FILES)
    metavar = flags[argument.name][2:].upper() if metavar == "TEXT" else metavar
    yield click.Option(
        [flags[argument.name], argument.name],
        required=argument.default is WANTED,
        multiple=bool(argument.kind.one),
        metavar=metavar,
        help=words,
        shell_complete=_COMPLETED.get(argument.name),
    )
    if argument.kind is _ALLOWED:
        yield _MOST


def _help_of(of: type[Budget[Any]], argument: Argument, flags: Mapping[str, str]) -> str:
    """Return the help of an argument: its text, as a sentence, and its default."""
    own = _OF_ARMS.get(argument.kind) or _HELP.get(argument.name)
    text, default = own or _as_typed(argument_text(of, argument), flags), _default_of(argument)
    if argument.kind is _TIME:
        text = text.replace("seconds", "time", 1)
    if argument.default is None and (otherwise := _OTHERWISE.search(text)):
        text, default = _OTHERWISE.sub("", text), otherwise[1]
    text = text.replace("None: ", "never: ")
    if argument.kind.one and argument.default is not WANTED and "repeat" not in text:
        text += "; repeat it for several"
    shown = f" [default: {default}]" if default else ""
    return text[:1].upper() + text[1:] + shown + "."


def _default_of(argument: Argument) -> str:
    """Return a default as it would be typed; "" without one, or if it says nothing."""
    value = argument.default
    if value is WANTED or value is None or value is False or value in ("", ()):
        return ""
    if argument.kind is _TIME:
        unit = [unit for unit in SECONDS if value % SECONDS[unit] == 0][-1]
        return f"{value // SECONDS[unit]}{unit}"
    return " and ".join(value) if isinstance(value, tuple) else str(value)


def _text_of(function: Callable[..., Any]) -> str:
    """Return what a docstring says besides its arguments and errors."""
    parts = (inspect.getdoc(function) or "").split("\n\n")
    return "\n\n".join(
        part for part in parts if not TEXT.match(part) and not part.startswith("Raise ")
    )


def _as_typed(text: str, flags: Mapping[str, str]) -> str:
    """Return a text of the library in the words of a command line.

    >>> _as_typed('Return "all" of `top_up`, for `request_id`', {"request_id": "--request"})
    'Print all of top-up, for --request'
    """
    verbs = {"create": "new", **flags}
    text = _QUOTED.sub(lambda word: verbs.get(word[1], word[1].replace("_", "-")), text)
    text = text.replace(_IN_PYTHON, _SEVERAL).replace("return it", "print its status")
    return text.replace("Return", "Print").replace("return", "print").replace('"', "")


def read(arguments: Mapping[str, Argument], typed: dict[str, Any]) -> dict[str, Any]:
    """Return what was typed as the method takes it. What was not typed is left out."""
    given: dict[str, Any] = {}
    if most := typed.pop(_MOST.name, ()):
        if typed["arms"]:
            raise InvalidInput("give either --arm or --most: --most names arms that may be chosen")
        given["arms"] = once("most", map(pair, most))
    for key, value in typed.items():
        kind = arguments[key].kind
        if isinstance(value, tuple):
            if value or arguments[key].default is WANTED:
                given[key] = kind.several(_value_of(kind, text) for text in value)
        elif isinstance(value, str):
            given[key] = _value_of(kind, value)
        elif value:
            given[key] = value
    return given


def _value_of(kind: Kind, text: str) -> Any:
    """Return a value as it was typed, or as the file has it that @ names."""
    in_file = kind in _IN_FILES and text.startswith("@")
    return kind.typed(content(text[1:]) if in_file else text)


def content(path: str) -> str:
    """Return the text of a file."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or "it is not text"
        raise InvalidInput(f"cannot read {path!r}: {why}") from None


def opened(of: type[Budget[Any]], name: str, storage: Any) -> Any:
    """Return a campaign or an account; one on a server is not asked for twice."""
    server = Server.at(storage, None)
    return of(name, server) if server else of.open(name, storage=storage)
