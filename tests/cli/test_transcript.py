"""The transcript of all verbs, typed: the same results and the same words as in Python.

What cannot be typed, such as a list of names in place of a name, is done in Python in between.
"""

import inspect
import io
import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from purse import Account, Campaign
from purse.base.problem_types import of_error
from purse.campaign.api import kinds
from purse.campaign.api.kinds import ValueKind, kind_of
from purse.campaign.api.verb import WANTED, Argument, arguments_of
from purse.campaign.storage.connect import in_memory
from purse.cli.made import _ALLOWED, _flag
from purse.client.wire import plain
from purse.errors import PurseError
from tests.support.cli import Command
from tests.support.transcript import STEPS, Step, still

ACCOUNTS = ("company", "team", "Account")
ROWS = {"ask": "_ask", "ask_many": "_ask", "tickets": "_tickets"}  # methods over another one
AMOUNTS = ("AMOUNT", "NAME=COST")
COST = kind_of(kinds.Amounts)
IN_PYTHON = ("open", "journal", "tell_many")


class Untypable(Exception):
    """A value that no command line can say."""


def text_of(kind: ValueKind, value: Any) -> str:
    """What is typed for one value, if it is read as the same."""
    if isinstance(value, (list, tuple)) and kind.metavar in AMOUNTS:
        return ",".join(text_of(kind, each) for each in value)
    if isinstance(value, bool) or not isinstance(value, (str, int, float, Decimal)) or value == "":
        raise Untypable
    read = kind.typed(str(value))
    same = read == value if isinstance(value, str) else not isinstance(read, str)
    if not same and kind.metavar not in AMOUNTS:
        raise Untypable
    return str(value)


def pairs(value: Any) -> list[str]:
    """What is typed for a dict."""
    if not isinstance(value, dict) or not value or "=" in "".join(value):
        raise Untypable
    return [f"{name}={text_of(COST, each)}" for name, each in value.items()]


def words(each: Argument, value: Any) -> Iterator[str]:
    """What is typed for an argument."""
    typed = _flag(each)
    if value is each.default:
        return
    if each.name in ("context", "features"):
        yield from (typed, json.dumps(value))
    elif each.name == "noted" and isinstance(value, tuple):
        yield from (typed, f"{value[0]}:{value[1]}")
    elif each.default is False:
        if value is not True:
            raise Untypable
        yield typed
    elif value is None and "never" in each.kind.metavar:
        yield from (typed, "never")
    elif each.name in ("acknowledged", "contexts"):
        raise Untypable
    elif each.name in ("arms", "labels") and (isinstance(value, dict) or each.kind is not _ALLOWED):
        for text in pairs(value):
            yield from ("--most" if each.kind is _ALLOWED else typed, text)
    elif each.kind.one:
        if isinstance(value, str) or not value:
            raise Untypable
        for part in value:
            yield from (typed, text_of(each.kind, part))
    elif each.name == "reward_range":
        yield from (typed, ",".join(map(str, value)))
    else:
        yield from (typed, text_of(each.kind, value))


def line(step: Step) -> list[str]:
    """A step as it is typed. Raise `Untypable` if it cannot be."""
    kind = "account" if step.of in ACCOUNTS else "campaign"
    of: Any = Account if kind == "account" else Campaign
    if step.verb in IN_PYTHON:
        raise Untypable
    if step.verb == "names":
        return [kind, "list", "--json"]
    if step.verb == "export":
        contexts = step.named.get("contexts", True)
        if not isinstance(contexts, bool):
            raise Untypable
        return [kind, "export", step.of, *["--without-contexts"] * (not contexts)]
    is_new = step.verb == "create"
    signature = inspect.signature(getattr(of, step.verb))
    given = signature.bind(*[None] * (not is_new), *step.given, **step.named).arguments
    given.pop("self", None)
    known = arguments_of(getattr(of, ROWS.get(step.verb, step.verb)))
    alone = [] if is_new else [step.of]
    first = next(iter(known.values()), None)
    if step.verb == "set_limit":
        key, amount, *value = step.given
        given = {}
        alone += ["=".join([key, *value]), "none" if amount is None else amount]
    elif first is not None and first.default is WANTED:
        found = given.pop(first.name)
        alone += found if first.kind.one else [text_of(first.kind, found)]
    options = [word for key, value in given.items() for word in words(known[key], value)]
    name = {"create": "new", "ask_many": "ask"}.get(step.verb, step.verb.replace("_", "-"))
    group = [name] if name == "recommend" else [kind, name]
    return [*group, *options, "--json", "--", *alone]


def answer(step: Step, place: Any) -> Any:
    """What Python answers, as JSON has it."""
    of: Any = Account if step.of in ACCOUNTS else Campaign
    try:
        if step.of in ("Campaign", "Account"):
            found = getattr(of, step.verb)(*step.given, **step.named, storage=place)
            found = found if step.verb == "names" else found.status()
        elif step.verb == "export":
            file = io.StringIO()
            of.open(step.of, storage=place).export(file, **step.named)
            return file.getvalue()
        else:
            found = getattr(of.open(step.of, storage=place), step.verb)(*step.given, **step.named)
            found = list(found) if step.verb == "journal" else found
        return json.loads(json.dumps(plain(found), default=str))
    except PurseError as error:
        return {key: value for key, value in of_error(error).items() if key in ("type", "detail")}


def shown(step: Step, result: tuple[int, str, str]) -> Any:
    """What a command answered, as Python would."""
    _, out, err = result
    if not out:
        said = json.loads(err.splitlines()[-1])
        return {"type": said["type"], "detail": said["detail"]}
    if step.verb == "export":
        return out
    found = json.loads(out)
    if step.verb == "names":
        return [each["name"] for each in found[f"{step.of.lower()}s"]]
    if step.verb == "tell":
        return found["receipts"][0] if found["receipts"] else found["errors"][0]["error"]
    if step.verb == "audit":
        del found["ok"]
    key = getattr(getattr(Campaign, ROWS.get(step.verb, step.verb)), "row", None)
    found = found[key.key] if key is not None and key.key else found
    return found[0] if step.verb == "ask" else found


def plainly(value: Any) -> Any:
    """Words without the marks by which Python tells text from numbers."""
    return json.loads(json.dumps(value).replace("'", "").replace('\\"', ""))


def played(do: Callable[[Step], Any]) -> list[Any]:
    answers = []
    with still() as clock:
        for step in STEPS:
            if step.of == "clock":
                clock[0] += step.given[0] * 1000
            answers.append(None if step.of == "clock" else do(step))
    return answers


def test_typed_or_called_the_answers_are_the_same(command: Command, tmp_path: Path) -> None:
    typed = []

    def type_or_call(step: Step) -> Any:
        try:
            words = line(step)
        except Untypable:
            return answer(step, f"sqlite:///{tmp_path}/purse.db")
        typed.append(step)
        return shown(step, command("", *words))

    memory = cache(in_memory)  # made under the clock that stands still
    called = played(lambda step: answer(step, memory()))
    differ = []
    for step, found, wanted in zip(STEPS, played(type_or_call), called, strict=True):
        if isinstance(wanted, dict) and isinstance(found, str):
            wanted = wanted["detail"]  # of one report among many
        if plainly(found) != plainly(wanted):
            differ.append(f"{step}\n    {found}\n    {wanted}")
    assert not differ, "\n".join(differ)
    assert len(typed) > 200
