"""A tree of levels checked against its journals, from the first entry or from the last audit on.

All journals of a tree are folded together, in the order in which their entries were made. What is
stored beside them is read at one moment first; the journals up to it never change.

What an audit has found right is kept as a checkpoint of each level, so that the next audit goes on
from there. The checkpoints of one audit belong together: each holds the mark of the audit, and that
of the top level holds the names of all levels. A level without its checkpoint sends the next audit
back to the first entries of the whole tree.
"""

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from heapq import merge
from typing import Any

import orjson

from purse.base.json import compact_bytes
from purse.campaign.api.results import Audit
from purse.campaign.api.states import CAMPAIGN
from purse.campaign.ledger.campaign_level import CampaignLevel
from purse.campaign.ledger.entry import FORGOTTEN, LedgerEntry
from purse.campaign.ledger.level import Level
from purse.campaign.ledger.records import AUDIT, seal, unseal
from purse.campaign.ledger.ticket import TicketRecord
from purse.campaign.run.cut import Cut, Summary, check_seals
from purse.campaign.run.learner import Learner
from purse.campaign.run.replay_journal import Replay
from purse.campaign.storage.sql import LevelRows
from purse.campaign.storage.storage import Storage
from purse.campaign.terms.budget_terms import AccountTerms
from purse.campaign.terms.terms import Terms
from purse.errors import InvalidInput, StorageUnavailable

_PAGE_SIZE = 5_000


def audit(
    storage: Storage,
    name: str,
    *,
    full: bool = True,
    cuts: Sequence[Cut] = (),
    write: Callable[[Sequence[Any]], Any] = len,
) -> Audit:
    """Fold the journals of the whole tree that a level belongs to, and compare what is stored.

    full    begin at the first entries, or at the seals; otherwise where the last audit that found
            nothing ended
    cuts    take what the journals came to before a time
    write   gets the entries before the last cut, each as an archive has it
    """
    tree = storage.tree(name)
    replays: dict[int, Replay] = {}
    for stored in tree:
        above = replays[stored.level.parent].level if stored.level.parent in replays else None
        replays[stored.level.key] = _replay_of(storage, stored, above)
        if (sealed := storage.seal(stored.level.name)) is not None:
            replays[stored.level.key].begin_at(sealed)
    by_name = {stored.level.name: replays[stored.level.key] for stored in tree}
    summaries = {each: Summary(replay) for each, replay in by_name.items()} if cuts else {}
    for replay in replays.values():
        replay.records = bool(cuts)
    if not full and _begin_at_last(storage, by_name):
        for replay in replays.values():
            if replay.seal is not None and replay.level.head.sealed == replay.seal.seq:
                replay.seal = None  # which was compared by the last audit
    own = next(stored.level for stored in tree if stored.level.name == name)
    after = by_name[name].level.seq
    expected = list[tuple[Level, str]]()
    journals = [
        lines(storage, position, stored, replays[stored.level.key].level.seq)
        for position, stored in enumerate(tree)
    ]
    for turn, position, _, entry, digest in merge(*journals):
        stored = tree[position]
        replay = replays[stored.level.key]
        for cut in cuts:
            cut.see(summaries, turn, stored.level.name, entry)
        if cuts and stored.level.name not in cuts[-1].states:
            summaries[stored.level.name].add(entry)
            write([stored.level.name, turn, *entry.facts()])
        expected = replay.check_event(entry, expected)
        try:
            replay.fold(entry, turn or None)
        except InvalidInput as error:  # all that follows would be wrong, too
            replay.find(str(error))
            break
        if entry.kind != "event":
            expected = replay.expected
        if replay.level.head.digest != digest:
            replay.find(f"entry {entry.seq} of {replay.level.title} has another digest")
        checkpoint = stored.checkpoint
        if (
            (policy := replay.policy) is not None
            and checkpoint is not None
            and checkpoint[0] == entry.seq
            and not policy.agrees(checkpoint)
        ):
            replay.find("the policy's checkpoint is not what the journal comes to")
    else:
        for level, _ in expected[:1]:
            by_name[level.terms.name].check_event(None, expected)
        for cut in cuts:
            cut.end(summaries)
        for stored in tree:
            _compare(replays[stored.level.key], stored)
            check_seals(replays[stored.level.key], cuts)
    findings = [text for replay in replays.values() for text in replay.findings]
    notes = {text for replay in replays.values() for text in replay.remarks()}
    if not findings:
        _keep(storage, by_name)
    checked = sum(stored.level.seq for stored in tree)
    scope = after, tuple(sorted(notes)), len(tree), checked
    return Audit(own.seq, tuple(findings), own.head.digest, *scope)


def _replay_of(storage: Storage, stored: LevelRows, above: Level | None) -> Replay:
    """Return the replay of a level before its first entry."""
    name = stored.level.name
    return Replay(
        level_of(storage, stored, above),
        lambda ticket: storage.about(name, ticket),
        lambda after: storage.reports(name, after, _PAGE_SIZE)[1],
        load_ask=lambda session, before: storage.last_ask(name, session, before),
        learnt=storage.checkpoint(name, FORGOTTEN),
    )


def level_of(storage: Storage, stored: LevelRows, above: Level | None) -> Level:
    """Return a level before its first entry."""
    facts = storage.created(stored.level.name, stored.level.kind).body
    if stored.level.kind == CAMPAIGN:
        return CampaignLevel(Terms.from_dict(facts), above=above)
    return Level(AccountTerms.from_dict(facts), above=above)


def lines(
    storage: Storage, position: int, stored: LevelRows, after: int
) -> Iterator[tuple[int, int, int, LedgerEntry, str]]:
    """Yield the entries of a level after one, up to those that are stored: turn in the tree (0 if
    the level stood alone), place of the level, number, entry and digest.
    """
    upto = stored.level.seq
    while after < upto:
        page = storage.digested(stored.level.name, after, min(_PAGE_SIZE, upto - after))
        if not page:
            return
        for entry, turn, digest in page:
            yield turn or 0, position, entry.seq, entry, digest
        after = page[-1][0].seq


def _compare(replay: Replay, stored: LevelRows) -> None:
    """Compare a level that was folded with what is stored of it."""
    level, stored_level = replay.level, stored.level
    forgotten = level.head.forgotten  # of archives, too
    untold = ("checkpoint", "over", "seen", "forgotten")
    is_gone = forgotten or stored_level.head.forgotten
    for unwritten in untold if is_gone else untold[:2]:  # by any entry
        setattr(level.head, unwritten, getattr(stored_level.head, unwritten))
    text, level.head.forgotten = level.head.to_json(), max(forgotten, level.head.forgotten)
    rows = sorted(tuple(row) for row in stored.balances)
    own = [
        ("", "", resource, 0, *balance, 0, None, None)
        for resource, balance in enumerate(level.balances)
    ]
    pairs: list[tuple[str, Any, Any]] = [
        ("name", stored_level.name, level.terms.name),
        ("kind", stored_level.kind, level.kind),
        ("entries", stored_level.seq, level.seq),
        ("entries beyond those", [number for (number,) in stored.outside], []),
        ("balances", [row for row in rows if row[0] == ""], own),
        ("head", stored_level.text, text),
    ]
    unfinished, sums = list[Any](), list[Any]()
    if isinstance(level, CampaignLevel):
        within = level.terms.reward_within
        unfinished = [
            (ticket.id, ticket.state, ticket.due(within))
            for ticket in sorted(level.tickets.values(), key=lambda ticket: ticket.id)
        ]
        sums = sorted(level.label_rows())
    pairs += [("open tickets", [tuple(row) for row in stored.open], unfinished)]
    pairs += [("sums of labels", [row for row in rows if row[0] != ""], sums)]
    for what, is_, should in pairs:
        if is_ != should:
            replay.find(f"the {what} of {level.title}: {is_}, and the journal comes to {should}")


def _keep(storage: Storage, replays: Mapping[str, Replay]) -> None:
    """Keep what an audit has found right, by the names of levels, the top first."""
    names = list(replays)
    top = replays[names[0]].level
    mark = f"{top.head.turn} {top.head.digest}"
    with suppress(StorageUnavailable):  # a checkpoint only saves time
        for name, replay in replays.items():
            body, level = seal(compact_bytes([mark, names, *_facts(replay)])), replay.level
            facts = level.seq, level.head.digest, body, level.head.forgotten
            storage.keep(name, AUDIT, *facts)


def _facts(replay: Replay) -> list[Any]:
    """Return the state of a level and its policy for a checkpoint."""
    level, policy = replay.level, replay.policy
    facts = level.facts()
    if isinstance(level, CampaignLevel):
        learnt: list[Any] = []  # of another version of the policy: nothing
        if policy is not None:
            _, *mark, body = policy.stored()
            learnt = [*mark, b64encode(body).decode()]
        facts += [list(level.tickets.values()), learnt]
    return facts


def _begin_at_last(storage: Storage, replays: Mapping[str, Replay]) -> bool:
    """Let levels begin where the last clean audit ended, new ones at 0; False: none does."""
    checkpoints: dict[str, tuple[int, list[Any]]] = {}
    for name in replays:
        checkpoint = storage.checkpoint(name, AUDIT)
        body = None if checkpoint is None else unseal(checkpoint.body)
        if (
            checkpoint is None
            or body is None
            or storage.reports(name, checkpoint.seq, 1)[0] != checkpoint.digest
        ):
            continue
        checkpoints[name] = checkpoint.seq, orjson.loads(body)
    top = next(iter(replays))
    if top not in checkpoints:
        return False
    mark, names, *_ = checkpoints[top][1]
    complete = {
        name: (seq, facts)
        for name, (seq, (their_mark, _, *facts)) in checkpoints.items()
        if their_mark == mark
    }
    if not set(names) <= set(complete):
        return False
    policies: dict[str, Learner] = {}
    for name, (_, facts) in complete.items():
        if len(facts) > 2 and facts[-1]:
            level, head = replays[name].level, facts[0]
            assert isinstance(level, CampaignLevel)
            terms = level.terms.in_charge(head["policy"]) if head["policy"] else level.terms
            policy = policies[name] = Learner(terms, head["taught"], head["taught_from"])
            seq, digest, body = facts[-1]
            if not policy.begin_at((seq, digest, b64decode(body))):
                return False  # other code has made it
    for name, (seq, facts) in complete.items():
        replay, level = replays[name], replays[name].level
        replay.policy, replay.notes = policies.get(name), []
        if isinstance(level, CampaignLevel):
            *facts, tickets, _ = facts
            level.tickets = {row[0]: TicketRecord(*row) for row in tickets}
        level.begin_at(seq, *facts)
        if isinstance(level, CampaignLevel) and replay.policy is None:
            replay.put_in_charge(level)
    return True
