"""A journal folded with the rules and the policy beside it: every entry is decided on once more and
compared with what is written.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from math import isfinite
from typing import Any

import orjson

from purse.base import amounts as amounts_module
from purse.base.json import compact, compact_bytes
from purse.campaign.alert_rules import read_alerts
from purse.campaign.ask_rules import Chooser
from purse.campaign.base_replay import BaseReplay, WouldAppend
from purse.campaign.checkpoint import LEDGER, Checkpoint, checkpoint
from purse.campaign.contexts import CONTEXT, UNUSED, check_numbers, of_ask
from purse.campaign.draft import Draft
from purse.campaign.history import History
from purse.campaign.journal import Entry
from purse.campaign.labels import LABELS, read_labels
from purse.campaign.learner import Learner
from purse.campaign.ledger import Ledger
from purse.campaign.mask import from_body
from purse.campaign.periods.dry_run import PeriodDryRun
from purse.campaign.periods.period import ABOVE, DROPPED
from purse.campaign.records import Balance, CampaignRecord, TicketRecord
from purse.campaign.rules import Transaction
from purse.campaign.states import CLOSED, PAUSED, RUNNING, TOLD
from purse.campaign.terms import Terms
from purse.campaign.ticket_window import TicketWindow
from purse.errors import AskRefused, InvalidInput, shorten

# fields of an entry that hold units
AMOUNTS = (
    "units", "costs", "spent", "overrun", "released", "cost_min", "cost_max", "left", "allowance",
    DROPPED,
)  # fmt: skip


class DryRunRules(PeriodDryRun, Transaction):
    """The rules, asked once more: what they decide on is not taken in, but told."""

    written: dict[int, dict[str, Any]] | None = None  # tickets by round; None: choose again
    least: list[int] | None = None  # what the accounts had left, where that was less
    above: dict[str, int] = {}  # noqa: RUF012 - the periods that the accounts were in

    def add(
        self,
        kind: str,
        body: dict[str, Any],
        *,
        request: str | None = None,
        ticket: int | None = None,
    ) -> Entry:
        """Say what the next entry would be."""
        raise WouldAppend(Entry(self.ledger.seq + 1, self.now, kind, request, ticket, body))

    def account_periods(self) -> dict[str, int]:
        """The periods that the accounts were in, as it is written."""
        return self.above

    def left(self) -> list[int]:
        """(d,) What could be held then."""
        own = super().left()
        return own if self.least is None else list(map(min, own, self.least))

    def levels(self) -> Iterator[tuple[str, list[Balance]]]:
        """What can lack money."""
        yield from super().levels()
        if self.least is not None:
            yield "an account", [Balance(units) for units in self.least]

    def next_round(
        self,
        draft: Draft,
        allowed: list[int] | None,
        chooser: Chooser,
        context: Sequence[float] | None = None,
    ) -> tuple[int, list[int], list[float]]:
        """The choice for the next round: made again, or as it is written."""
        if self.written is None:
            return super().next_round(draft, allowed, chooser, context)
        if draft.t + 1 not in self.written:
            raise AskRefused(f"round {draft.t + 1} was not asked for")
        ticket = self.written[draft.t + 1]
        return draft.t + 1, ticket["arms"], ticket["probabilities"]


class JournalReplay(BaseReplay[DryRunRules]):
    """A journal being folded.

    load   finds a ticket, as it is stored now, that was finished long before
    """

    terms: Terms
    ledger: Ledger

    def __init__(self, terms: Terms, load: Callable[[int], TicketRecord | None]) -> None:
        super().__init__(repr(terms.name))
        self.terms = terms
        self.ledger = Ledger(terms)
        self.tickets = self.ledger.tickets = TicketWindow(load, terms.expires_after)
        self.learner = Learner(terms)
        self.learner.compile_ask()
        self.history = History(terms)
        now = getattr(self.learner.module, "VERSION", 0)
        # choices of another version of the policy are taken as they are written
        self.decides = terms.policy_version in (0, now)
        if not self.decides:
            self.notes.append(
                f"tickets were chosen by version {terms.policy_version} of {terms.policy}, and "
                f"this is version {now}: the choices were not made again"
            )

    def take_in(self, entry: Entry) -> None:
        """Compare an entry, fold it, and let the policy learn from it."""
        check_types(entry, self.terms)
        if entry.ticket is not None:
            self.tickets.recall(entry)
        self.compare(entry)
        self.ledger.fold(entry)
        self.ledger.requests.clear()  # the storage refuses one that comes twice
        self.expected.follow(self.ledger, entry)
        told = [(entry.seq, entry.body)] if entry.kind == TOLD else []
        self.learner.learn(told, entry.seq, self.ledger.head.digest)
        self.history.fold([entry])
        self.tickets.tidy()

    def rules(self, at: int) -> DryRunRules:
        """The rules as they are at a time."""
        return DryRunRules(self.ledger, at)

    def decide(self, transaction: DryRunRules, entry: Entry) -> None:
        """Whatever led to the entry, again."""
        body, ticket = entry.body, entry.ticket or 0
        match entry.kind:
            case "event":
                self.expected.decide(transaction, entry)
            case "alerts_set":
                transaction.set_alerts(read_alerts(body["alerts"]))
            case "created":
                if entry.seq == 1:
                    transaction.add("created", self.terms_at(entry.at).as_dict())
            case "asked":
                mask = from_body(body["mask"], self.terms.n_arms) if "mask" in body else None
                if not self.decides:
                    transaction.written = {each["t"]: each for each in body["tickets"]}
                transaction.least, transaction.above = body.get("left"), body.get(ABOVE, {})
                contexts = of_ask(body)
                labels = read_labels(body.get(LABELS))
                transaction.ask(
                    body["n"], entry.request or "", mask, self.learner, contexts, labels
                )
            case "told" if body.get("missing"):
                transaction.expire([self.tickets[ticket]])
            case "told":
                transaction.tell(ticket, body["rewards"], body["costs"])
            case "settled":
                transaction.settle(ticket, body["costs"])
            case "rewarded":
                transaction.reward(ticket, body["rewards"])
            case "failed":
                transaction.fail(ticket, body["costs"], body["reason"])
            case "conflict":
                self.decide_conflict(transaction, ticket, body["report"])
            case "voided":
                transaction.void(ticket)
            case "arm_added":
                transaction.add_arm(body["name"], body["cost_min"], body["cost_max"])
            case "arm_retired":
                transaction.retire_arm(body["name"])
            case "arm_changed":
                transaction.set_arm(body["name"], body["cost_min"], body["cost_max"])
            case "expired":
                transaction.expire([self.tickets[ticket]])
            case "topped_up":
                transaction.top_up(body["units"], entry.request or "")
            case "renewed":
                transaction.renew()
            case kind:
                transaction.set_status(
                    kind, {"paused": PAUSED, "resumed": RUNNING, "closed": CLOSED}[kind]
                )

    def decide_conflict(
        self, transaction: DryRunRules, ticket: int, report: dict[str, Any]
    ) -> None:
        """Whatever was said too late, again."""
        match report:
            case {"void": _}:
                transaction.void(ticket)
            case {"settle": costs}:
                transaction.settle(ticket, costs)
            case {"reward": rewards}:
                transaction.reward(ticket, rewards)
            case {"fail": costs}:
                transaction.fail(ticket, costs, "")
            case _:
                transaction.tell(ticket, report["rewards"], report["costs"])

    @property
    def digest(self) -> str:
        """A hash of all that was folded: the same for a copy of the campaign, whenever it was
        made.
        """
        own = {"id": "", "snapshot": 0, "created": 0, "changed": 0, "digest": ""}
        head = {**self.ledger.head.as_dict(), **own}
        digest = sha256(
            compact_bytes([self.ledger.seq, head, self.ledger.balances, self.tickets.total()])
        )
        for array in self.learner.state.values():
            digest.update(array.tobytes())
        return digest.hexdigest()

    def checkpoints(self) -> list[Checkpoint]:
        """What everybody needs who begins at this entry; an audit finds all of it in the first."""
        ledger, tickets = self.ledger, self.tickets
        others = [self.learner.checkpoint(), self.history.checkpoint(ledger.head.digest)]
        body = [
            ledger.head.as_dict(),
            ledger.balances,
            tickets.issued,
            list(tickets.values()),
            [[bucket, *parts] for bucket, parts in tickets.sums.items()],
            [[*each[:4], b64encode(each.body).decode()] for each in others],
        ]
        if ledger.head.labels:
            body.append(ledger.labels.listed())
        books = checkpoint(LEDGER, ledger.seq, ledger.head.digest, compact_bytes(body))
        return [books, *others]

    def begin_at(self, stored: Checkpoint, relearn: Callable[[Learner, Checkpoint], bool]) -> bool:
        """Begin at a checkpoint of the ledger; False, and nothing happens, where it is damaged.

        relearn   teaches a policy all reports up to a checkpoint, where the state in it was made by
                  other code; False where it cannot
        """
        if not stored.is_whole:
            return False
        _, _, _, _, _, others, *_ = orjson.loads(stored.body)
        policy, history = (
            Checkpoint(each[0], each[1], each[2], each[3], b64decode(each[4])) for each in others
        )
        if not self.history.restore(history):
            return False
        if not self.learner.restore(policy) and not relearn(self.learner, stored):
            return False
        self.ledger = begun_ledger(self.terms, stored, self.tickets)
        return True


def begun_ledger(terms: Terms, stored: Checkpoint, tickets: TicketWindow) -> Ledger:
    """The ledger of a checkpoint that is whole; its tickets are added to these."""
    head, balances, issued, records, sums, _, *labels = orjson.loads(stored.body)
    known = CampaignRecord.from_json(compact(head))
    ledger = Ledger(terms, stored.seq, known, [Balance(*purse) for purse in balances])
    ledger.tickets = tickets
    for rows in labels:  # one list, where there are labels
        ledger.labels.restore(rows)
    for record in records:
        tickets[record[0]] = TicketRecord(*record)
    tickets.sums = {bucket: parts for bucket, *parts in sums}
    tickets.issued = issued
    return ledger


def check_types(entry: Entry, terms: Terms) -> None:
    """Refuse what no campaign writes: times and tickets that are not whole numbers, amounts that
    are not whole units, rewards outside [0, 1] where no other range was declared.
    """
    amounts = [entry.body.get(name, []) for name in AMOUNTS if entry.kind != "created"]
    times = [entry.body.get(name, 0) for name in ("next", "number")]
    whole = [entry.at, entry.ticket or 0, *times, *(units for part in amounts for units in part)]
    rewards = entry.body.get("rewards", [])
    if not all(
        type(number) is int and 0 <= number <= amounts_module.LARGEST for number in whole
    ) or not isinstance(entry.request, (str, type(None))):
        raise InvalidInput(
            f"{shorten(compact(entry[1:]))} holds something else than whole numbers and names"
        )
    for part in (entry.body, *entry.body.get("tickets", ())):
        check_numbers(part.get(CONTEXT, ()))
    for numbers in entry.body.get(UNUSED, ()):
        check_numbers(numbers)
    strict = terms.reward_range is None
    if not all(
        type(reward) in (int, float) and isfinite(reward) and (not strict or 0 <= reward <= 1)
        for reward in rewards
    ):
        raise InvalidInput(f"rewards={rewards}: must lie between 0 and 1")
