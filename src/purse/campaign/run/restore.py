"""A campaign made from an exported journal, entry by entry."""

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import IO, Any

import orjson

from purse.base import amounts
from purse.base.files import near_file
from purse.base.json import compact_bytes
from purse.campaign.api.journal import FORMAT, Entry
from purse.campaign.api.states import ACCOUNT, CAMPAIGN
from purse.campaign.ledger.campaign_level import CampaignLevel
from purse.campaign.ledger.entry import FORGOTTEN, SEAL, LedgerEntry, kept_by
from purse.campaign.ledger.level import Level, Load
from purse.campaign.ledger.records import POLICY, RESTORED
from purse.campaign.rules.transaction import Added, Transaction
from purse.campaign.run.committer import level_chain, writes_of
from purse.campaign.run.cut import check_seals
from purse.campaign.run.learner import Learner
from purse.campaign.run.replay_journal import LoadLabel, LoadReports, Replay
from purse.campaign.run.teacher import take_over
from purse.campaign.storage.sql import Rows, StoredLevel, Writes
from purse.campaign.storage.storage import Storage
from purse.campaign.terms.budget_terms import RULES
from purse.campaign.terms.terms import Terms
from purse.errors import BudgetExhausted, InvalidInput, PurseError, shorten

_PAGE_SIZE = 5_000  # entries written at a time


def restore(
    entries: Iterator[LedgerEntry], storage: Storage, name: str | None, above: list[Any]
) -> Any:
    """Make a campaign from its entries, all of it or nothing; return its terms.

    above   the terms of the levels that it joins, from the top down; its totals have to fit
    """
    first = next(entries)
    if first.kind != "created":
        raise InvalidInput(f"a journal begins with its terms, not with {first.kind!r}")
    terms = _checked_terms(first).copied(name, above[-1].name if above else None)
    first = LedgerEntry.of(1, first.at, "created", terms.as_dict())

    def decide(
        stored: list[StoredLevel], load: Load, reports: LoadReports, load_label: LoadLabel
    ) -> Iterator[Writes]:
        level = level_chain(above, stored)
        own, transaction = stored[-1:], Transaction(CampaignLevel(terms), 0)
        replay = Replay(
            transaction.level,
            lambda ticket: load(ticket) + _about(transaction, ticket),
            lambda after: reports(after) or _unwritten(transaction, after),
            load_label,
        )
        yield from _pages(replay, transaction, chain([first], entries), own, storage.now())
        stored[-1] = own[0]
        if level is not None:
            yield _joined(storage, terms, level, stored)

    storage.create(terms.name, CAMPAIGN, terms.account, len(terms.resources), decide)
    return terms


def _checked_terms(entry: LedgerEntry) -> Terms:
    """Return the terms in the first entry of a journal, which may be anything."""
    try:
        return Terms.from_dict(entry.body).checked()
    except PurseError:
        raise
    except Exception as error:
        raise InvalidInput(
            f"entry 1: these are not the terms of a campaign: {shorten(repr(error))}"
        ) from None


def _about(transaction: Transaction, ticket: int) -> list[LedgerEntry]:
    """Return the entries about a ticket that are not written yet."""
    return [
        added.entry
        for added in transaction.added
        if added.entry.ticket == ticket and added.entry.kind != "conflict"
    ]


def _unwritten(transaction: Transaction, after: int) -> Rows:
    """Return the reports after an entry that are not written yet, as `LoadReports` does."""
    return [
        (added.entry.seq, added.digest, added.entry.text)
        for added in transaction.added
        if added.entry.kind in ("told", "renewed") and added.entry.seq > after
    ]


def _pages(
    replay: Replay,
    transaction: Transaction,
    entries: Iterable[LedgerEntry],
    own: list[StoredLevel],
    now: int,
) -> Iterator[Writes]:
    """Yield what to write, a page at a time. Raise `PurseError` if entries contradict others."""
    level, expected, kinds = replay.level, list[tuple[Level, str]](), [POLICY]
    assert isinstance(level, CampaignLevel)
    for entry in entries:
        seals = list[tuple[Any, ...]]()
        if entry.kind == SEAL:
            seals += [(own[0].key, entry.seq, _begun_at(replay, transaction, entry))]
        else:
            _check_contexts(replay.policy, entry)
            expected = replay.check_event(entry, expected)
            replay.fold(entry, None)
            transaction.added.append(Added(level, entry, level.head.digest, None))
        _refuse_findings(replay)
        if entry.kind not in ("event", SEAL):
            expected = replay.expected
        if seals or len(transaction.added) >= _PAGE_SIZE:
            yield writes_of(transaction, own)._replace(seals=seals)
            own[0] = own[0]._replace(balances=list(level.balances), seq=level.seq)
            for sums in (level.labels.rows, level.loaded, level.limited):
                sums.clear()
            transaction.added.clear()
    replay.check_event(None, expected)
    check_seals(replay)
    _refuse_findings(replay)
    if level.head.rules < RULES or replay.policy is None:  # from here on this version decides
        transaction.now = level.head.changed
        take_over(transaction, level.head.sealed)
        kinds += [FORGOTTEN] if replay.blind else []
        replay.blind = range(0)  # it learns from the contexts that are left
        replay.put_in_charge(level)
        assert replay.policy is not None
        replay.policy.learn((), level.seq, level.head.digest)
    level.head.checkpoint = level.seq
    key = own[0].key
    _, *learnt = replay.policy.stored()
    restored = (key, RESTORED, level.seq, "", b"%d" % now)
    checkpoints = [restored, *((key, kind, *learnt) for kind in kinds)]
    yield writes_of(transaction, own, checkpoints)
    text = level.head.to_json()
    own[0] = own[0]._replace(
        balances=list(level.balances), seq=level.seq, head=level.head, text=text
    )


def _begun_at(replay: Replay, transaction: Transaction, seal: LedgerEntry) -> bytes:
    """Begin at a seal, with the entries that it has left; return what is stored of it."""
    try:
        replay.begin_at(seal)
        for entry in kept_by(seal)[1:]:  # the first one is of another copy
            added = Added(replay.level, entry, seal.body["digest"], None)
            transaction.added.append(added)
        return compact_bytes({part: seal.body[part] for part in ("state", "summary")})
    except Exception as error:  # an entry may be anything
        raise InvalidInput(f"entry {seal.seq}, {seal.kind}, is damaged: {error!r}") from None


def _refuse_findings(replay: Replay) -> None:
    """Raise `PurseError` if an entry contradicts those before it."""
    if replay.findings:
        raise PurseError(f"the journal contradicts itself: {replay.findings[0]}")


def _check_contexts(policy: Learner | None, entry: LedgerEntry) -> None:
    """Refuse an ask without the context that its policy looked at."""
    if entry.kind == "asked" and policy and policy.sees_contexts and "context" not in entry.body:
        raise InvalidInput(
            f"the journal was exported without its contexts, and {policy.terms.policy} sees them: "
            "it cannot choose and learn again"
        )


def _joined(storage: Storage, terms: Any, above: Level, stored: list[StoredLevel]) -> Writes:
    """Return the writes that book a restored campaign on the levels above it.

    Raise `BudgetExhausted` if it has spent or held more than one of them has left.
    """
    own = stored[-1]
    level = CampaignLevel(terms, own.seq, own.head, own.balances, above)
    transaction = Transaction(level, storage.now())
    transaction.renew()
    _check_fit(level, above)
    transaction.add("joined", {"periods": level.periods_above()})
    return writes_of(transaction, stored)


def _check_fit(level: Level, above: Level) -> None:
    """Refuse a campaign that has spent or held more than a level above it has left."""
    for account in above.chain():
        for name, mine, part in zip(
            account.terms.resources, account.balances, level.balances, strict=True
        ):
            need = part.spent + part.held + part.presumed
            if need > max(0, mine.left):
                raise BudgetExhausted(
                    f"{level.title} has spent or held {amounts.text(need)} {name}, and "
                    f"{account.title} has {amounts.text(mine.left)} left"
                )


_FORMATS = (2, FORMAT)  # that are read; in 2 no line had a salt
_LONGEST_HEAD = 4_096  # bytes of the first line


def read_journal(file: str | Path | IO[str]) -> Iterator[LedgerEntry]:
    """Yield the entries of an export, from a path or an open text file.

    Raise `InvalidInput`, which names the line, if the file cannot be read or is no journal.
    """
    if not isinstance(file, (str, Path)):
        yield from _read_lines(file)
        return
    try:
        with Path(file).open(encoding="utf-8") as lines:
            yield from _read_lines(lines)
    except OSError as error:
        why = f"{error.strerror}{near_file(file)}"
        raise InvalidInput(f"cannot read {str(file)!r}: {why}") from None
    except UnicodeError:
        raise InvalidInput(f"cannot read {str(file)!r}: it is not text") from None


def is_journal(path: Path) -> bool:
    """Return whether the first line of a file says that it is the export of a campaign."""
    try:
        with path.open("rb") as file:
            head = _parsed(1, file.readline(_LONGEST_HEAD).decode())
    except (OSError, UnicodeDecodeError, PurseError):
        return False
    return {"purse", "format", "campaign"} <= set(head)


def _read_lines(file: Iterable[str]) -> Iterator[LedgerEntry]:
    """Yield the entries of a journal, line by line."""
    lines = enumerate(file, 1)
    line = next(lines, (1, ""))[1]
    if _parsed(1, line).get("format") not in _FORMATS:
        raise InvalidInput(
            f"line 1: not the journal of a campaign in format {' or '.join(map(str, _FORMATS))}: "
            f"{shorten(line.strip())!r}"
        )
    if ACCOUNT in (head := _parsed(1, line)):
        raise InvalidInput(
            f"line 1: the journal of account {shorten(str(head[ACCOUNT]))!r}, and only campaigns "
            "are restored: a backup of the storage has accounts and all below them"
        )
    last = 0
    for number, line in lines:
        if line.strip():
            yield (entry := _entry_of(number, line, last))
            last = entry.seq
    if last == 0:
        raise InvalidInput("the journal has no entries")


def _entry_of(number: int, line: str, last: int) -> LedgerEntry:
    """Return the entry of a line, which has to follow one in its journal."""
    facts = {"salt": None} | _parsed(number, line)
    if set(facts) != set(Entry._fields):
        raise InvalidInput(
            f"line {number}: an entry has {', '.join(Entry._fields)}, not {', '.join(facts)}"
        )
    seq, is_seal = facts["seq"], facts["kind"] == SEAL and last == 1
    if type(seq) is not int or (seq < last if is_seal else seq != last + 1):
        raise InvalidInput(f"line {number}: found entry {seq!r}, expected entry {last + 1}")
    if not isinstance(facts["kind"], str) or not isinstance(facts["body"], dict):
        raise InvalidInput(f"line {number}: unknown kind of entry {facts['kind']!r}")
    try:
        salt = bytes.fromhex(facts["salt"] or "")
    except (TypeError, ValueError):
        raise InvalidInput(f"line {number}: salt={facts['salt']!r}: must be hex digits") from None
    try:
        return LedgerEntry.of(**facts | {"salt": salt or None})
    except TypeError:  # JSON is written less deep than it is read
        raise InvalidInput(f"line {number}: its body is nested too deep") from None


def _parsed(number: int, line: str) -> dict[str, Any]:
    """Return one line as an object."""
    try:
        facts = orjson.loads(line)
    except ValueError:
        facts = None
    if not isinstance(facts, dict):
        raise InvalidInput(f"line {number}: not JSON: {shorten(line.strip())!r}")
    return facts
