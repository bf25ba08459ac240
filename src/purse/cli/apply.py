"""`purse apply FILE`: make accounts and campaigns be as a file says, as far as they may change."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from purse.base.toml import read_toml
from purse.campaign.account import Account
from purse.campaign.api.states import ACCOUNT, CAMPAIGN
from purse.campaign.api.verb import row_of
from purse.campaign.campaign import Campaign
from purse.campaign.webhooks.file import BUDGETS, read_file
from purse.cli.options import PATH, option, refuse_server, stored
from purse.errors import CampaignExists, InvalidInput, NoSuchStorage, unknown

if TYPE_CHECKING:
    from purse.campaign.ledger.level import Level
    from purse.campaign.rules.transaction import Transaction

_OF: dict[str, type[Any]] = {ACCOUNT: Account, CAMPAIGN: Campaign}
_TYPED = ("name", "exist_ok")  # that the table's name says, or the command


class _Entry(NamedTuple):
    """An account or a campaign of the file."""

    kind: str
    arguments: dict[str, Any]  # of its `create`


class _Change(NamedTuple):
    """What becomes of an entry."""

    mark: str  # "+": it is new; "~": it changes; "": it stays
    words: list[str]


@click.command()
@click.argument("file", type=PATH)
@option("--dry-run", "Print the difference, and write nothing.", is_flag=True)
@stored
def apply(file: Path, dry_run: bool, storage: str) -> None:
    """Make accounts and campaigns be as FILE says, and print what changes.

    Each has a table, [accounts.NAME] or [campaigns.NAME], with the values of `new`. All are checked
    before the first is written; if that is interrupted, the same command goes on. What FILE does
    not name stays as it is.
    """
    entries = list(_read(file))
    changes = _compare(entries, storage)
    for entry, change in zip(entries, changes, strict=True):
        if change.mark:
            if not dry_run:
                _OF[entry.kind].create(**entry.arguments, storage=storage, exist_ok="update")
            name = f"{change.mark} {entry.kind} {entry.arguments['name']}"
            click.echo("\n    ".join([name, *change.words]))
    if not any(change.mark for change in changes):
        click.echo("nothing to change")


def _read(file: Path) -> Iterator[_Entry]:
    """Yield what a file names, accounts before what is below them."""
    tables = read_toml(file)
    for section in tables.keys() - BUDGETS:
        raise InvalidInput(f"{file}: {unknown('section', section, sorted(BUDGETS))}")
    if "webhooks" in tables:
        read_file(file)
    for kind in _OF:
        waiting = dict(_tables(tables, f"{kind}s", file))
        while waiting:
            ready = [name for name in waiting if waiting[name].get("account") not in waiting]
            if kind == CAMPAIGN or not ready:  # a circle, which the check refuses
                ready = list(waiting)
            for name in ready:
                yield _entry(kind, name, waiting.pop(name), f"{file}: [{kind}s.{name}]")


def _tables(tables: Mapping[str, Any], section: str, file: Path) -> dict[str, dict[str, Any]]:
    """Return the tables of a section by name."""
    part = tables.get(section, {})
    if not isinstance(part, dict) or not all(isinstance(one, dict) for one in part.values()):
        raise InvalidInput(f"{file}: {section}: must be tables, [{section}.NAME]")
    return part


def _entry(kind: str, name: str, table: dict[str, Any], where: str) -> _Entry:
    row = row_of(_OF[kind].create)
    try:
        for key in table.keys() & {*_TYPED}:
            raise unknown("field", key, [field for field in row.fields if field not in _TYPED])
        return _Entry(kind, row.read({}, {}, {**table, "name": name}, None))
    except InvalidInput as error:
        raise InvalidInput(f"{where}: {error}") from None


def _compare(entries: list[_Entry], address: str) -> list[_Change]:
    """Return the step of each entry. Raise what its creation or its change would raise."""
    from purse.campaign.run import local_level
    from purse.campaign.storage.connect import in_memory

    refuse_server(address)
    try:
        storage = local_level.connect_storage(address)
    except NoSuchStorage:
        storage = in_memory()
    there = {name: kind for kind in _OF for name in storage.names(kind)}
    taken = dict(there)
    above: dict[str, list[Any]] = {"": []}  # the terms of accounts, from the top down
    changes = []
    for kind, arguments in entries:
        name, account = arguments["name"], arguments.get("account") or ""
        try:
            if account not in above:
                above[account] = local_level.terms_above(storage, account)
            bound = row_of(_OF[kind].create).signature.bind(_OF[kind], **arguments)
            bound.apply_defaults()
            terms = local_level.new_terms(kind, bound.arguments, above[account])
            if taken.setdefault(name, kind) != kind:
                raise CampaignExists(f"there is {taken[name]} {name!r} already")
            if name in there:
                level = local_level.open_level(kind, name, storage)
                changes.append(_changed(_facts(level.look()[0]), level.try_update(terms)))
                terms = level.terms
            else:
                stored = storage.level(account) if account in there else []
                terms = terms.begun_at(storage.now())
                new = local_level.begin(terms, above[account], stored, storage.now())
                changes.append(_Change("+", [" ".join(fact) for fact in _facts(new.level).items()]))
            above[name] = [*above[account], terms]
        except InvalidInput as error:
            raise InvalidInput(f"{kind} {name!r}: {error}") from None
    return changes


def _facts(level: "Level") -> dict[str, str]:
    """Return what may change of a level, in words."""
    from purse.campaign.ledger.campaign_level import CampaignLevel
    from purse.campaign.ledger.ticket import texts

    facts = {"budget": ", ".join(texts(level.allowance)), "alerts": ", ".join(level.head.alerts)}
    if isinstance(level, CampaignLevel):
        arms = level.arms
        for arm in arms.there:
            low, high = (",".join(texts(part[arm])) for part in (arms.cost_min, arms.cost_max))
            facts[f"arm {arms.names[arm]}"] = f"{low} to {high}"
        for key, units in level.head.limits.items():
            facts[f"limit of each {key}"] = ",".join(texts(units))
    return facts


def _changed(old: Mapping[str, str], change: "Transaction") -> _Change:
    """Return how a level changes, from what it was."""
    new, kinds = _facts(change.level), [added.entry.kind for added in change.added]
    words = [
        f"{key} {old.get(key, 'none')} -> {new.get(key, 'none')}"
        for key in {**old, **new}
        if old.get(key) != new.get(key)
    ]
    return _Change("~" if kinds else "", words or kinds)
