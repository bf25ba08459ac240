"""Commands made from methods: arguments from the signature, the help of a command from the
docstring and that of its options from `option_texts`.
"""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from purse.campaign.api import kinds
from purse.campaign.api.kinds import SECONDS, ValueKind, kind_of, once, pair
from purse.campaign.api.verb import TEXT, WANTED, Argument, arguments_of
from purse.campaign.budget import Budget
from purse.cli.option_texts import OPTIONS
from purse.cli.options import (
    complete_accounts,
    complete_campaigns,
    complete_policies,
    for_machines,
    stored,
)
from purse.cli.show import COLUMNS, lines, show
from purse.client.server import Server
from purse.errors import InvalidInput

OF = "of"  # the argument that names the campaign or the account
_FLAGS = {"n": "-n", "request_id": "--request"}  # those that are not made from the name
_COMPLETED = {
    "account": complete_accounts,
    "campaign": complete_campaigns,
    "policy": complete_policies,
}
_ALLOWED, _TIME, _SIGNED, _EXIST_OK = map(
    kind_of, (kinds.Allowed, kinds.Seconds, kinds.SignedAmounts, kinds.ExistOk)
)
_PLAIN = ("ARM", "TICKET")  # words that need no help
_IN_FILES = [kind_of(kinds.Context), kind_of(kinds.Contexts)]  # those that @FILE may hold
_MOST = click.Option(
    ["--most"],
    multiple=True,
    metavar="NAME=COST",
    help="Arm that may be chosen and the most that this call of it may cost, which is held; "
    "repeat it for each arm.",
)
_UPDATE = click.Option(
    ["--update"],
    is_flag=True,
    help="Take it if only budget, alerts, arms and limits differ, and set these.",
)
_CREDIT = click.Option(
    ["--credit"], metavar="AMOUNT", help="An amount that comes back, in place of AMOUNT."
)
_PRINTED = re.compile("(, and|;) print .*")  # what the list of commands leaves out
_QUOTED = re.compile("`(\\w+)`")


def command(
    of: type[Budget[Any]],
    method: str,
    name: str = "",
    *,
    call: Callable[..., Any] | None = None,
    columns: str = "",
    own: Mapping[str, ValueKind] | None = None,
    without: Sequence[str] = (),
    alone: int = 1,
) -> click.Command:
    """Return the command that calls a method of a campaign or an account, and prints its result.

    The first arguments stand alone if they have to be given, and the others are options.

    call      what is called instead of the method
    columns   of the table that is printed; the default is that of the list's name
    own       kinds of arguments that are typed in another way than elsewhere
    without   arguments that cannot be typed
    alone     the number of arguments that may stand alone
    """
    function = getattr(of, method)
    arguments = {key: one for key, one in arguments_of(function).items() if key not in without}
    for own_name, kind in (own or {}).items():
        arguments[own_name] = arguments[own_name]._replace(kind=kind)
    terms = arguments_of(of.create)  # type: ignore[attr-defined]
    row = getattr(function, "row", None)
    key = row.key if row else method
    is_new = inspect.ismethod(function)  # a class method: `create`
    do = call or function

    def run(storage: str, as_json: bool, **typed: Any) -> None:
        whose, values = typed.pop(OF, ""), read(arguments, typed)
        if is_new:
            result = do(**values, storage=storage).status()
        else:
            result = do(opened(of, whose, storage), **values)
        show(result, as_json, key, columns or key)

    title = name or method.strip("_").replace("_", "-")
    texts = OPTIONS.get(title, {}) | OPTIONS.get(f"{of.KIND} {title}", {})
    flags = {key: _flag(argument) for key, argument in {**terms, **arguments}.items()}
    params: list[click.Parameter] = [] if is_new else [name_of(of)]
    words = _as_typed(_text_of(function), flags) + lines(COLUMNS.get(columns or key, ()))
    for number, argument in enumerate(arguments.values()):
        if number < alone and argument.default is WANTED:
            params.append(_alone(argument))
            if argument.kind is _SIGNED:
                params.append(_CREDIT)
            if not is_new and argument.kind.metavar not in _PLAIN:
                words += f"\n\n{argument.kind.metavar}: {_help_of(argument, texts[argument.name])}"
        else:
            params += _options(argument, texts[argument.name])
    short = _PRINTED.sub(".", " ".join(words.partition("\n\n")[0].split()))
    plain = click.Command(title, callback=run, params=params, help=words, short_help=short)
    return stored(for_machines(plain))


def name_of(of: type[Budget[Any]], *, required: bool = True) -> click.Argument:
    """Return the argument that names a campaign or an account."""
    metavar = "NAME" if required else "[NAME]"
    return click.Argument(
        [OF], metavar=metavar, required=required, shell_complete=_COMPLETED[of.KIND]
    )


def _alone(argument: Argument) -> click.Argument:
    """Return an argument that needs no flag."""
    name, metavar = [argument.name], argument.kind.metavar
    if argument.kind.one:
        return click.Argument(name, metavar=f"[{metavar}]...", nargs=-1)
    if argument.kind is _SIGNED:
        return click.Argument(name, metavar=f"[{metavar}]", required=False)
    return click.Argument(name, metavar=metavar)


def _flag(argument: Argument) -> str:
    return _FLAGS.get(argument.name, "--" + (argument.kind.one or argument.name).replace("_", "-"))


def _options(argument: Argument, text: str) -> Iterator[click.Option]:
    """Yield the option of an argument; arms that may be chosen have two."""
    flag, words = _flag(argument), _help_of(argument, text)
    if argument.default is False:
        yield click.Option([flag, argument.name], is_flag=True, help=words)
        if argument.kind is _EXIST_OK:
            yield _UPDATE
        return
    metavar = argument.kind.metavar + "|@FILE" * (argument.kind in _IN_FILES)
    metavar = flag[2:].upper() if metavar == "TEXT" else metavar
    yield click.Option(
        [flag, argument.name],
        required=argument.default is WANTED,
        multiple=bool(argument.kind.one),
        metavar=metavar,
        help=words,
        shell_complete=_COMPLETED.get(argument.name),
    )
    if argument.kind is _ALLOWED:
        yield _MOST


def _help_of(argument: Argument, text: str) -> str:
    """Return the help of an argument: its text, and its default as it would be typed."""
    default = _default_of(argument)
    return f"{text} [default: {default}]." if default else f"{text}."


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
    """Return the docstring of a method without its arguments and errors."""
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
    text = text.replace("return it", "print its status")
    return text.replace("Return", "Print").replace("return", "print").replace('"', "")


def read(arguments: Mapping[str, Argument], typed: dict[str, Any]) -> dict[str, Any]:
    """Convert typed options to the method's arguments. What was not typed is left out."""
    values: dict[str, Any] = {}
    if maxima := typed.pop(_MOST.name, ()):
        if typed["arms"]:
            raise InvalidInput("give either --arm or --most: --most names arms that may be chosen")
        values["arms"] = once("most", map(pair, maxima))
    if typed.pop(_UPDATE.name, False):
        typed["exist_ok"] = kinds.UPDATE
    if _CREDIT.name in typed:
        credit = typed.pop(_CREDIT.name)
        if (credit is None) == (typed["amount"] is None):
            raise InvalidInput("amount: give AMOUNT, or --credit AMOUNT for what comes back")
        typed["amount"] = typed["amount"] or ",".join(f"-{part}" for part in credit.split(","))
    for key, value in typed.items():
        kind = arguments[key].kind
        if isinstance(value, tuple):
            if value or arguments[key].default is WANTED:
                values[key] = kind.several(_value_of(kind, text) for text in value)
        elif isinstance(value, str):
            values[key] = _value_of(kind, value)
        elif value:
            values[key] = value
    return values


def _value_of(kind: ValueKind, text: str) -> Any:
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
