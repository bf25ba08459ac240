"""A journal folded with the rules and the policy beside it: every entry is decided once more and
compared with what is written.
"""

from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from typing import Any

import orjson

from purse.base.amounts import LARGEST
from purse.base.plain_validation import request_of
from purse.base.text import count
from purse.campaign.api.states import (
    ACCOUNT_ALERT_WORDS,
    ALERT_WORDS,
    ENDED,
    PAUSED,
    RUNNING,
    read_alerts,
)
from purse.campaign.ledger.ask_inputs import Context, check_numbers, from_body, read_labels
from purse.campaign.ledger.campaign_level import CampaignLevel
from purse.campaign.ledger.entry import FORGOTTEN, LedgerEntry
from purse.campaign.ledger.level import OWN, Level, Load
from purse.campaign.ledger.limits import Label, LabelBudget
from purse.campaign.ledger.records import Balance, Head
from purse.campaign.rules import asks, operators, reports
from purse.campaign.rules.transaction import ALERT, PERIOD, Transaction, due_events, refused_events
from purse.campaign.run.learner import Learner, Lessons, lessons_of, parsed
from purse.campaign.storage.sql import Rows
from purse.campaign.terms.budget_terms import RULES
from purse.campaign.terms.calendar import data_version, local_day
from purse.campaign.terms.readers import names
from purse.errors import InvalidInput, PurseError, StorageUnavailable, invalid, shorten

_MOST_FINDINGS = 20
_AMOUNTS = ("units", "costs", "held", "left", "cost_min", "cost_max")  # fields that hold units
_STATUS = {"paused": PAUSED, "resumed": RUNNING, "ended": ENDED}
_OWN_REQUESTS = {"renewed": f"{PERIOD}{{number}}", "event": f"{ALERT}{{key}}"}  # by kind
LoadReports = Callable[[int], Rows]  # finds number, digest and body of reports after an entry
_LoadAsk = Callable[[str, int], LedgerEntry | None]  # finds the last ask of a session before one
LoadLabel = Callable[[Label], LabelBudget | None]  # finds the budget of a label


class _WouldAdd(Exception):
    """The entries that the rules would write."""

    def __init__(self, level: Level, *written: Any) -> None:
        self.level, self.written = level, written


class _DryRun(Transaction):
    """The rules, asked once more: what they add is not taken in, but raised."""

    known_end: dict[str, Any] | None = None  # of a period, as other time-zone data told it

    def add(self, kind: str, body: dict[str, Any], **more: Any) -> LedgerEntry:
        """Say what the next entry would be."""
        level, text = more.get("level") or self.level, orjson.dumps(body).decode()
        raise _WouldAdd(level, kind, more.get("request"), more.get("ticket"), text)

    def end_after(self, level: Level, boundary: int, instant: int) -> dict[str, Any]:
        """Return the end of a period: told again, or as it is written by other time-zone data."""
        if self.known_end is None or self.known_end["next"] <= instant:
            return super().end_after(level, boundary, instant)
        return self.known_end


class Replay:
    """The journal of one level being folded.

    load         finds the entries about a finished ticket
    reports      finds what the policy learns from
    load_label   finds the budget of a label; None: all that there are are known
    load_ask     finds the last ask of a session; None: likewise
    learnt       what the policy had learnt when contexts were forgotten, as a checkpoint has it
    """

    def __init__(
        self,
        level: Level,
        load: Load,
        reports: LoadReports = lambda _: (),
        load_label: LoadLabel | None = None,
        load_ask: _LoadAsk | None = None,
        learnt: Sequence[Any] | None = None,
    ) -> None:
        self.learnt, self.blind = learnt, range(0)  # entries whose choices nobody can make again
        self.level, self.load, self.reports = level, load, reports
        self.load_label, self.load_ask = load_label, load_ask
        self.above = level.above  # which is folded beside it
        self.policy: Learner | None = None
        self.expected: list[tuple[Level, str]] = []  # events that have to come next
        self.findings: list[str] = []
        self.notes: list[str] = []
        self.seal: LedgerEntry | None = None  # at which it begins
        self.claims: dict[int, dict[str, Any]] = {}  # what the journal says of seals
        self.lessons: dict[int, Lessons] = {}  # from seals, by their last entries
        # what policies in charge had learnt at an entry, as JSON has it
        self.taught: dict[str, str] = {}
        self.records = False  # whether that is kept
        if isinstance(level, CampaignLevel):
            self.put_in_charge(level)

    def begin_at(self, seal: LedgerEntry) -> None:
        """Begin where a seal ends, instead of at the first entry."""
        level, summary = self.level, seal.body["summary"]
        level.fold(seal)
        self.seal, self.lessons = seal, {seal.seq: lessons_of(seal)}
        self.taught = {**summary["taught"], str(seal.seq): summary["policy"]}
        day = local_day("UTC", seal.body["state"]["before"])
        self.notes = [f"entries before {day} are sealed: what they came to was not checked"]
        if isinstance(level, CampaignLevel):
            self.put_in_charge(level)

    def find(self, text: str) -> None:
        """Record something that does not agree."""
        if len(self.findings) < _MOST_FINDINGS:
            self.findings.append(text)

    def check_event(
        self, entry: LedgerEntry | None, expected: list[tuple[Level, str]]
    ) -> list[tuple[Level, str]]:
        """Compare an entry, None at the end, with the events due; return those left."""
        if entry is not None and expected[:1] == [(self.level, entry.text)]:
            return expected[1:]
        if expected:
            key, where = orjson.loads(expected[0][1])["key"], entry and f"before entry {entry.seq}"
            self.find(f"the event {key} is missing {where or 'at the end'}")
        elif entry is not None and self._is_uncaused(entry):
            self.find(f"entry {entry.seq}: nothing caused this event")
        return []

    def _is_uncaused(self, entry: LedgerEntry) -> bool:
        """Return whether an entry that was not expected is an event that needs a cause."""
        is_caused = "refused" in entry.body or self.level.head.rules < RULES
        return entry.kind == "event" and not is_caused

    def fold(self, entry: LedgerEntry, turn: int | None) -> None:
        """Compare an entry with what the rules decide, and take it in.

        Raise `InvalidInput` if it cannot follow those before it.
        """
        level = self.level
        try:
            _check_values(entry, level)
            level.above = None if turn is None else self.above
            if isinstance(level, CampaignLevel):
                level.recall(entry, self.load, self.load_label, self.load_ask)
            is_gone = FORGOTTEN in entry.body and "context" in entry.body
            if is_gone and self.policy is not None and self.policy.sees_contexts:
                upto = self.learnt[0] if self.learnt else LARGEST
                self.policy, self.blind = None, range(entry.seq, upto + 1)
            was_decided = level.head.rules >= RULES or entry.kind in ("created", "handed_over")
            if was_decided:
                self.compare(entry)
            if level.fold(entry) != turn:
                self.find(f"entry {entry.seq} is not the {turn}. of the tree")
            if entry.kind == "sealed":
                self.claims[entry.body["seq"]] = entry.body
            level.requests.clear()  # the storage refuses one that comes twice
            if entry.kind != "event":
                self.expected = [
                    (above, orjson.dumps(body).decode())
                    for above in level.chain()
                    for body in due_events(above, entry, own=above is level)
                    if level.head.rules >= RULES
                ]
            is_back = self.policy is None and self.learnt and self.learnt[0] == entry.seq
            is_due = is_back or entry.kind == "handed_over"
            if is_due and isinstance(level, CampaignLevel):
                self.put_in_charge(level)
            if self.policy is not None:
                learnt = [(entry.seq, entry.body)] if entry.kind in self.policy.kinds else []
                self.policy.learn(learnt, entry.seq, level.head.digest)
            if isinstance(level, CampaignLevel):
                level.forget(entry)
        except StorageUnavailable:  # which says nothing about the entry
            raise
        except Exception as error:  # an entry may be anything
            why = str(error) if isinstance(error, PurseError) else repr(error)
            raise InvalidInput(
                f"entry {entry.seq} of {level.title}, {entry.kind}, cannot follow those before it: "
                f"{shorten(why)}"
            ) from error
        held = entry.body.get("held") or [0] * len(level.balances)
        for above in level.chain() if was_decided else ():
            if any(map(_is_overspent, above.balances, held)):
                self.find(f"entry {entry.seq}: {above.title} is overspent")
        if was_decided and entry.kind == "asked" and isinstance(level, CampaignLevel):
            for budget in level.budgets_of(entry.body.get("labels")):
                if any(
                    need and part.left < 0 for need, part in zip(held, budget.balances, strict=True)
                ):
                    self.find(f"entry {entry.seq}: {budget.title} is overspent")

    def remarks(self) -> list[str]:
        """Return the remarks of an audit."""
        remarks, forgotten = list(self.notes), self.level.head.forgotten
        if forgotten:
            entries = count(forgotten, "entry was", "entries were")
            remarks.append(f"{entries} forgotten in {self.level.title}")
        if self.blind:
            remarks.append(
                f"contexts of {self.level.title} are forgotten: from entry {self.blind[0]} to "
                f"{min(self.blind[-1], self.level.seq)}, arms and probabilities were taken as they "
                "are written"
            )
        return remarks

    def put_in_charge(self, level: CampaignLevel) -> None:
        """Let the policy in charge learn from the journal up to here; none, if another version of
        it was, or contexts are forgotten: what was chosen then is not decided again.
        """
        self.policy = None
        if level.seq + 1 in self.blind:
            return
        terms = level.terms.in_charge(level.policy)
        if terms.is_other_version():
            self.notes.append(
                f"tickets of {level.title} were chosen by version {terms.policy_version} of "
                f"{terms.policy}, which this purse has not: their arms and probabilities were "
                "taken as they are written, and all else was decided again"
            )
            return
        policy = Learner(terms, level.head.taught, after := level.head.taught_from)
        policy.expect_many()
        is_whole = not after and self.seal is None
        if self.learnt and level.seq == self.learnt[0]:
            is_whole, after = policy.begin_at(self.learnt), level.seq
        elif text := self.taught.get(str(level.seq)):
            is_whole, after = policy.begin_at((level.seq, "", b64decode(text))), level.seq
        elif lessons := self.lessons.get(after):
            is_whole = policy.teach(lessons)
        if not is_whole:
            self.notes.append(
                f"the policy of {level.title} has learnt from entries that are sealed, or by other "
                "code: arms and probabilities were taken as they are written"
            )
            return
        while level.seq and (rows := [row for row in self.reports(after) if row[0] <= level.seq]):
            after = rows[-1][0]
            policy.learn(parsed(rows), after, "")
        self.policy = policy
        if self.records:
            self.taught[str(level.seq)] = b64encode(policy.stored()[3]).decode()

    def compare(self, entry: LedgerEntry) -> None:
        """Decide once more."""
        transaction = _DryRun(self.level, entry.at, self.policy)
        if "next" in entry.body:
            version, now = entry.body.get("tz", ""), data_version(self.level.terms.time_zone)
            if version != now:
                fields = ("next", "tz", "ahead")
                transaction.known_end = {
                    key: entry.body[key] for key in fields if key in entry.body
                }
                self.notes.append(f"time-zone data {version}, now {now}: ends were not told again")
        for above in self.level.chain():
            if entry.kind not in ("renewed", "clock", "created") and above.due(entry.at):
                self.find(f"entry {entry.seq}: the period of {above.title} was over")
        try:
            self.decide(transaction, entry)
            self.find(f"entry {entry.seq}, {entry.kind}: nothing should have been written")
        except _WouldAdd as made:
            written = (entry.kind, entry.request, entry.ticket, entry.decided)
            if made.level is not self.level or made.written != written:
                self.find(
                    f"entry {entry.seq} would be {shorten(str(made.written), 300)}, and is "
                    f"{shorten(str(written), 300)}"
                )
        except PurseError as error:
            self.find(f"entry {entry.seq}, {entry.kind}, would be refused: {error}")

    def decide(self, transaction: _DryRun, entry: LedgerEntry) -> None:
        """Call the rule that led to an entry."""
        body, ticket = entry.body, entry.ticket or 0
        match entry.kind:
            case "created":
                transaction.add("created", self.level.terms.as_dict())
            case "asked":
                self.ask(transaction, entry)
            case "told" if body.get("missing"):
                reports.expire(transaction, [transaction.find(ticket)])
            case "told":
                reports.tell(transaction, ticket, body["reward"], body["costs"])
            case "settled":
                reports.settle(transaction, ticket, body["costs"])
            case "rewarded":
                reports.reward(transaction, ticket, body["reward"])
            case "failed":
                reports.fail(transaction, ticket, body["costs"], body["reason"], body.get("rest"))
            case "broken":
                reports.fail(transaction, ticket, None, body["reason"], body.get("rest"))
            case "voided":
                reports.void(transaction, ticket)
            case "expired":
                reports.expire(transaction, [transaction.find(ticket)])
            case "conflict":
                self.conflict(transaction, ticket, body["report"])
            case "topped_up":
                operators.top_up(transaction, body["units"], entry.request or "")
            case "budget_set":
                when = operators.NEXT if body.get("next") else operators.NOW
                operators.set_budget(transaction, body["units"], when, entry.request or "")
            case "charged":
                labels, note = read_labels(body.get("labels")), body.get("note", "")
                operators.charge(transaction, body["amount"], labels, note, entry.request or "")
            case "handed_over":
                operators.hand_over(transaction, body.get("policy"), body.get("sealed", 0))
            case "sealed":
                transaction.add("sealed", body)
            case "renewed" | "clock":
                transaction.renew()
            case "alerts_set":
                words = (
                    ALERT_WORDS if isinstance(self.level, CampaignLevel) else ACCOUNT_ALERT_WORDS
                )
                operators.set_alerts(transaction, read_alerts(body["alerts"], words))
            case "limited":
                units = body.get("units")
                operators.set_limit(transaction, body["key"], body.get("value"), units)
            case "arm_added":
                operators.add_arm(transaction, body["name"], body["cost_min"], body["cost_max"])
            case "arm_retired":
                operators.retire_arm(transaction, body["name"])
            case "arm_changed":
                operators.set_arm(transaction, body["name"], body["cost_min"], body["cost_max"])
            case "event" if "refused" in body:
                for event in refused_events(self.level, body["refused"]):
                    if event["key"] == body["key"]:
                        transaction.add_event(self.level, event)
            case "event":  # `Audit` has taken it from those that are expected
                transaction.add("event", body, request=ALERT + body["key"])
            case "joined":
                above = {"periods": self.level.periods_above()}
                transaction.add("joined", above if self.level.above else body)
            case kind:
                operators.set_status(transaction, kind, _STATUS[kind])

    def ask(self, transaction: _DryRun, entry: LedgerEntry) -> None:
        """Choose a ticket again."""
        body, level = entry.body, transaction.campaign
        if level.above is None:
            level.above = stand_in(level, body)
        mask = from_body(body["mask"], level.arms.n_places) if "mask" in body else None
        context = Context(body["context"], body.get("clipped", 0)) if "context" in body else None
        labels, of = read_labels(body.get("labels")), body.get("of")
        if self.policy is None:
            transaction.chosen = body["arm"], body["p"]
        session = body.get("session")
        chosen = asks.choice(transaction, mask, context, labels, session)
        chosen |= asks.request_body(transaction, body.get("n", 1), mask, labels, session)
        chosen |= {"of": of} if of else {}
        if self.above is None or level.above is not self.above:
            level.above = None
        number = level.head.counts.get("tickets", 0) + 1
        transaction.add("asked", chosen, request=entry.request, ticket=number)

    def conflict(self, transaction: _DryRun, ticket: int, report: dict[str, Any]) -> None:
        """Report again what was reported too late."""
        match report:
            case {"void": _}:
                reports.void(transaction, ticket)
            case {"settle": costs}:
                reports.settle(transaction, ticket, costs)
            case {"fail": costs}:
                reports.fail(transaction, ticket, costs, "")
            case {"reward": reward, "costs": costs}:
                reports.tell(transaction, ticket, reward, costs)
            case {"reward": reward}:
                reports.reward(transaction, ticket, reward)


def _is_overspent(balance: Balance, held: int) -> bool:
    """Return whether a counter is negative, or more was held just now than was left (P1)."""
    return min(balance) < 0 or -balance.left > (0 if held else balance.overdraft)


def stand_in(level: Level, body: dict[str, Any]) -> Level | None:
    """Return stand-ins for the levels above a campaign before it was restored."""
    above: Level | None = None
    others = {key: at for key, at in body.get("periods", {}).items() if key != OWN}
    for key, number in reversed(others.items()):
        head = Head(id=key, period=[number, 0, LARGEST, 0, [], [], []])
        above = Level(level.terms, 0, head, [Balance(LARGEST) for _ in level.balances], above)
    if "left" in body:
        above = Level(level.terms, 0, None, [Balance(units) for units in body["left"]], above)
    return above


def _check_values(entry: LedgerEntry, level: Level) -> None:
    """Raise `InvalidInput` if an entry holds what no method of a campaign takes."""
    body = entry.body if entry.kind != "created" else {}
    report = body.get("report", {})
    whole = [entry.at, entry.ticket or 0, *(u for name in _AMOUNTS for u in body.get(name, ()))]
    whole += [abs(units) for units in body.get("amount", ())]
    whole += [u for name in ("costs", "settle", "fail") for u in report.get(name) or ()]
    if not all(type(units) is int and 0 <= units <= LARGEST for units in whole):
        raise InvalidInput("it holds something else than whole units")
    for reward in [part["reward"] for part in (body, report) if "reward" in part]:
        if type(reward) not in (int, float):
            raise invalid("reward", reward, "must be a number")
        if isinstance(level, CampaignLevel):
            reports.read_reward(level.terms, reward)
    check_numbers(body.get("context") or ())
    if entry.request != _OWN_REQUESTS.get(entry.kind, "").format(**body):
        request_of(entry.request, "request")
    for name in body.keys() & {"of", "session"}:
        request_of(body[name], name)
    for name in body.keys() & {"reason", "note"}:
        if reports.read_note(name, body[name]) != body[name]:
            raise invalid(name, body[name], "must be one line of text that can be printed")
    if entry.kind.startswith("arm_"):
        names("name", [body["name"]])
