"""The rules of a campaign: each method looks at the ledger, decides what the next entry is, and
answers. It writes nothing to a storage itself.

A method raises before it decides on an entry, so that a refusal changes nothing; only a conflict is
both refused and kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from purse.base import amounts
from purse.campaign.journal import Entry
from purse.campaign.ledger import Ledger, TicketRecord, add_pulls, settle, total_costs
from purse.campaign.make_results import receipt
from purse.campaign.results import Receipt
from purse.campaign.states import (
    CLOSED,
    FAILED,
    HELD,
    OPEN,
    PRESUMED,
    RELEASED,
    RUNNING,
    SETTLED,
    SKIPPED,
    TOLD,
    VOID,
)
from purse.campaign.terms import RELEASE
from purse.errors import (
    AskRefused,
    BudgetExhausted,
    BudgetHeld,
    CampaignClosed,
    CampaignPaused,
    Conflict,
    HorizonReached,
    InvalidInput,
    PurseError,
    TicketError,
)
from purse.types import SKIP, STOP

# round, units left, pulls of each arm on open tickets (none where nobody counts them)
# -> arms, probabilities
Choose = Callable[[int, list[int], list[int]], tuple[list[int], list[float]]]


class Transaction:
    """A ledger with the entries that are to be added to the journal."""

    def __init__(self, ledger: Ledger, now: int) -> None:
        self.ledger = ledger
        self.terms = ledger.terms
        self.now = now
        self.entries: list[Entry] = []
        self.digests: list[str] = []  # of the journal up to each of them
        self.touched: dict[int, None] = {}  # tickets that changed, in order

    def add(
        self,
        kind: str,
        body: dict[str, Any],
        *,
        request: str | None = None,
        ticket: int | None = None,
    ) -> Entry:
        """Decide on the next entry."""
        entry = Entry(self.ledger.seq + 1, self.now, kind, request, ticket, body)
        self.ledger.fold(entry)
        self.entries.append(entry)
        self.digests.append(self.ledger.head.digest)
        self.touched.update(
            dict.fromkeys(
                [ticket] if ticket is not None else [each["id"] for each in body.get("tickets", ())]
            )
        )
        return entry

    def ask(self, n: int, request: str, choose: Choose) -> list[TicketRecord]:
        """Up to n tickets, at least one; the same again for a request that was answered before
        (P4), unless nothing is held for any of them any more.
        """
        entry = self.repeated(request, "asked", n=n)
        if entry is not None:
            self.refuse_dead(request, [each["id"] for each in entry.body["tickets"]])
        else:
            tickets = self.choose_rounds(n, choose)
            deadline = (
                None if self.terms.expires_after is None else self.now + self.terms.expires_after
            )
            entry = self.add(
                "asked", {"n": n, "deadline": deadline, "tickets": tickets}, request=request
            )
        return [self.ledger.tickets[each["id"]] for each in entry.body["tickets"]]

    def refuse_dead(self, request: str, numbers: list[int]) -> None:
        """Refuse to hand out tickets again that are all void or released: who takes them for new
        ones spends what nobody holds.
        """
        states = [self.ledger.tickets[number].state for number in numbers]
        if set(states) <= {VOID, RELEASED}:
            raise Conflict(
                f"request_id={request!r} was answered with ticket {numbers[0]}, which is "
                f"{states[0]} by now: nothing is held for it; ask with another request_id"
            )

    def repeated(self, request: str, kind: str, **same: Any) -> Entry | None:
        """The entry that answered this request before; refused where the request was another
        one.
        """
        entry = self.ledger.requests.get(request)
        if entry is not None and (
            entry.kind != kind or any(entry.body[name] != value for name, value in same.items())
        ):
            before = (
                f"{entry.body['n']} tickets"
                if entry.kind == "asked"
                else f"a top-up of {', '.join(map(amounts.text, entry.body['units']))}"
            )
            raise Conflict(f"request_id={request!r} was used before for another request: {before}")
        return entry

    def choose_rounds(self, n: int, choose: Choose) -> list[dict[str, Any]]:
        """The rounds to come, as many of n as fit."""
        head, left = self.ledger.head, [purse.left for purse in self.ledger.balances]
        if head.status != RUNNING:
            closed = head.status == CLOSED
            raise (CampaignClosed if closed else CampaignPaused)(
                f"campaign {self.terms.name!r} is {head.status}"
                + ("" if closed else "; resume it first")
            )
        again, taken, pending = list(head.again), list(head.taken), list(head.open)
        t = head.rounds
        chosen: list[dict[str, Any]] = []
        while len(chosen) < n:
            try:
                ((this, arms, chances), fresh) = (
                    (again[0], False)
                    if again
                    else (self.next_round(t, left, pending, choose), True)
                )
                held = self.amount_to_hold(arms, left, taken)
            except AskRefused:
                if not chosen:
                    raise
                break
            if fresh:
                t = this
            else:
                again.pop(0)
            left = [rest - part for rest, part in zip(left, held, strict=True)]
            add_pulls(taken, arms, 1)
            add_pulls(pending, arms, 1)
            chosen.append(
                {
                    "id": head.counts["tickets"] + len(chosen) + 1,
                    "t": this,
                    "arms": arms,
                    "probabilities": chances,
                    "held": held,
                }
            )
        return chosen

    def next_round(
        self, t: int, left: list[int], pending: list[int], choose: Choose
    ) -> tuple[int, list[int], list[float]]:
        """The policy's choice for the round after t."""
        if t == self.terms.horizon:
            raise HorizonReached(f"all {t} rounds of the horizon have been asked for")
        arms, chances = choose(t + 1, left, pending)
        skipped = arms[0] == SKIP
        if arms[0] == STOP or (skipped and self.terms.horizon is None):
            raise AskRefused(f"{self.terms.policy} has ended the game after {t} rounds")
        for arm, chance in zip(arms, chances, strict=True) if not skipped else ():
            if not 0 <= arm < len(self.terms.arms):
                raise PurseError(
                    f"{self.terms.policy} chose no arm, or one that does not exist, in "
                    f"round {t + 1}"
                )
            if not 0 < chance <= 1 + 1e-9:
                raise PurseError(
                    f"{self.terms.policy} chose with probabilities {chances} in round {t + 1}"
                )
        return t + 1, arms, chances

    def foresee(
        self, probabilities: Callable[[int, list[int], list[int], Any], None], out: Any
    ) -> None:
        """The probability of each arm in the next round."""
        head = self.ledger.head
        if head.again:
            out[head.again[0][1]] = 1.0
        else:
            left = [purse.left for purse in self.ledger.balances]
            probabilities(head.rounds + 1, left, list(head.open), out)

    def amount_to_hold(self, arms: list[int], left: list[int], taken: list[int]) -> list[int]:
        """(d,) What has to be held for these arms; refused where it does not fit (P1), or where an
        arm has had all its pulls.
        """
        if arms[0] == SKIP:
            return [0] * len(left)
        if self.terms.caps is not None and any(taken[arm] >= self.terms.caps[arm] for arm in arms):
            raise BudgetExhausted(
                f"{self.arm_names(arms)}: all pulls that its cap allows have been asked for"
            )
        most = self.terms.cost_max
        held = (
            list(most[arms[0]])
            if len(arms) == 1
            else [sum(most[arm][m] for arm in arms) for m in range(len(left))]
        )
        for need, rest in zip(held, left, strict=True):
            if need > rest:
                raise self.explain_shortage(arms, held, left)
        return held

    def explain_shortage(
        self, arms: list[int], held: list[int], left: list[int]
    ) -> BudgetExhausted:
        """Why so much cannot be held: there is a resource of which it would not fit even if nothing
        were held, or only one that is held for others.
        """
        lacks = [
            (need > rest + purse.held, m)
            for m, (need, rest, purse) in enumerate(
                zip(held, left, self.ledger.balances, strict=True)
            )
            if need > rest
        ]
        gone, m = max(lacks, key=lambda lack: lack[0])
        purse = self.ledger.balances[m]
        text = (
            f"{self.arm_names(arms)} may cost {amounts.text(held[m])} {self.terms.resources[m]} "
            f"and {amounts.text(left[m])} is left"
        )
        if not gone:
            return BudgetHeld(
                f"{text}; {amounts.text(purse.held)} is held for open tickets; tell or void them"
            )
        return BudgetExhausted(
            text
            + (
                f"; {amounts.text(purse.presumed)} is presumed spent, for tickets without a report"
                if purse.presumed
                else ""
            )
        )

    def arm_names(self, arms: list[int]) -> str:
        """Arms by their names."""
        return " and ".join(repr(self.terms.arms[arm]) for arm in arms)

    def tell(self, ticket: int, rewards: Sequence[float], costs: Sequence[int]) -> Receipt:
        """Take a whole report (P3, P6)."""
        record = self.find(ticket)
        self.refuse_skipped(record)
        report: dict[str, Any] = {"rewards": list(rewards), "costs": list(costs)}
        if record.state == TOLD and same(record.body["report"], report):
            return receipt(record, duplicate=True)
        if (
            record.state in (TOLD, FAILED)
            or (record.state == SETTLED and record.body["report"]["costs"] != report["costs"])
            or record.body.get("reward", report["rewards"]) != report["rewards"]
        ):
            raise self.conflict(record, report, said(report))
        return self.report(record, report["rewards"], report["costs"])

    def settle(self, ticket: int, costs: Sequence[int]) -> Receipt:
        """Take what a pull cost; its reward may be known already, or come later."""
        record = self.find(ticket)
        self.refuse_skipped(record)
        if record.state in (TOLD, SETTLED, FAILED):
            if record.body["report"]["costs"] == list(costs):
                return receipt(record, duplicate=True)
            raise self.conflict(record, {"settle": list(costs)}, said({"costs": costs}))
        if "reward" in record.body:
            return self.report(record, record.body["reward"], list(costs))
        self.add("settled", self.price(record, list(costs)), ticket=ticket)
        return receipt(self.ledger.tickets[ticket])

    def reward(self, ticket: int, rewards: Sequence[float]) -> Receipt:
        """Take the reward of a pull; its cost may be known already, or come later."""
        record, given = self.find(ticket), list(rewards)
        self.refuse_skipped(record)
        known = (
            record.body["report"]["rewards"] if record.state == TOLD else record.body.get("reward")
        )
        if known == given:
            return receipt(record, duplicate=True)
        if known is not None:
            raise self.conflict(record, {"reward": given}, said({"rewards": given}))
        if record.state == SETTLED:
            return self.report(record, given, record.body["report"]["costs"])
        self.add("rewarded", {"rewards": given}, ticket=ticket)
        return receipt(self.ledger.tickets[ticket])

    def fail(self, ticket: int, costs: Sequence[int], reason: str) -> Receipt:
        """Take that a call did not work, and what it cost; nothing is learnt."""
        record = self.find(ticket)
        self.refuse_skipped(record)
        if record.state == FAILED and record.body["report"]["costs"] == list(costs):
            return receipt(record, duplicate=True)
        if record.state not in OPEN:
            raise self.conflict(record, {"fail": list(costs)}, f"failed, {said({'costs': costs})}")
        priced = self.price(record, list(costs))
        self.add("failed", {**priced, "reason": reason}, ticket=ticket)
        return receipt(self.ledger.tickets[ticket])

    def report(self, record: TicketRecord, rewards: list[float], costs: list[int]) -> Receipt:
        """Bring reward and cost together: the entry that the policy learns from."""
        known = {name: record.body[name] for name in ("t", "arms", "probabilities")}
        if record.state == SETTLED:
            money = {**record.body["report"], "settled": True}
        else:
            money = self.price(record, costs)
        self.add("told", {**known, "rewards": rewards, **money}, ticket=record.id)
        return receipt(self.ledger.tickets[record.id])

    def price(self, record: TicketRecord, costs: list[int]) -> dict[str, Any]:
        """What is spent of a hold, and what is overrun (P6)."""
        total = total_costs(costs, len(self.terms.resources))
        spent, overrun = settle(
            record.body["held"] if record.state in OPEN else [0] * len(total), total
        )
        for purse, more in zip(self.ledger.balances, overrun, strict=True):
            if purse.overrun + more > amounts.LARGEST:
                raise InvalidInput(
                    f"cost={amounts.text(more)}: with it the overrun would exceed what can "
                    f"be counted, {amounts.LARGEST // amounts.UNIT:,}"
                )
        return {"costs": costs, "from": record.state, "spent": spent, "overrun": overrun}

    def void(self, ticket: int) -> Receipt:
        """Release a hold."""
        record = self.find(ticket)
        self.refuse_skipped(record, "void")
        if record.state in (TOLD, SETTLED, FAILED):
            raise self.conflict(record, {"void": True}, "void")
        if record.state in (VOID, RELEASED):
            return receipt(record, duplicate=True)
        self.add("voided", {"from": record.state, "released": record.body["held"]}, ticket=ticket)
        return receipt(self.ledger.tickets[ticket])

    def conflict(self, record: TicketRecord, report: dict[str, Any], what: str) -> Conflict:
        """Keep what was said too late, and say that what was said first stands."""
        self.add("conflict", {"report": report}, ticket=record.id)
        first = record.body.get("report") or {"rewards": record.body.get("reward")}
        known = record.state if "report" in record.body or not first["rewards"] else "rewarded"
        return Conflict(
            f"ticket {record.id} was {known} before with another report: "
            f"{said(first) or record.state}; the first report stands, this one is only recorded: "
            f"{what}"
        )

    def refuse_skipped(self, record: TicketRecord, verb: str = "tell") -> None:
        """Refuse what is said of a round that passed without a pull."""
        if record.state == SKIPPED:
            raise TicketError(f"ticket {record.id} skipped its round: there is nothing to {verb}")

    def find(self, ticket: int) -> TicketRecord:
        """A ticket that was issued."""
        record = self.ledger.tickets.get(ticket)
        if record is None:
            raise TicketError(
                f"ticket {ticket} is not one that campaign {self.terms.name!r} issued"
            )
        return record

    def expire(self, due: Sequence[TicketRecord]) -> None:
        """Presume spent, or release, what has outlived its deadline."""
        for record in due:
            if record.state == HELD and record.deadline is not None and record.deadline <= self.now:
                to = RELEASED if self.terms.on_expiry == RELEASE else PRESUMED
                self.add("expired", {"to": to, "units": record.body["held"]}, ticket=record.id)

    def top_up(self, units: Sequence[int], request: str) -> None:
        """Add to the budget, once for each request."""
        if self.repeated(request, "topped_up", units=list(units)) is None:
            if self.ledger.head.status == CLOSED:
                raise CampaignClosed(f"campaign {self.terms.name!r} is closed")
            for purse, more in zip(self.ledger.balances, units, strict=True):
                if purse.budget + more > amounts.LARGEST:
                    raise InvalidInput(
                        f"amount={amounts.text(more)}: the budget must stay at most "
                        f"{amounts.LARGEST // amounts.UNIT:,}"
                    )
            self.add("topped_up", {"units": list(units)}, request=request)

    def set_status(self, kind: str, status: str) -> None:
        """Pause, resume or close; nothing happens where that is so already, and closed is for
        good.
        """
        if self.ledger.head.status == status:
            return
        if self.ledger.head.status == CLOSED:
            raise CampaignClosed(f"campaign {self.terms.name!r} is closed")
        self.add(kind, {})

    def archive(self, first: int, last: int, file: dict[str, Any]) -> None:
        """Record that a file holds the entries about tickets from one to another."""
        if first != max(2, self.ledger.head.archived + 1) or not first <= last <= self.ledger.seq:
            raise PurseError(
                f"entries {first} to {last} cannot be archived: {self.ledger.seq} entries are "
                f"there, and those up to {self.ledger.head.archived} are archived already"
            )
        self.add("archived", {"first": first, "last": last, "file": file})


def same(first: dict[str, Any], report: dict[str, Any]) -> bool:
    """Whether two reports say the same."""
    return first["rewards"] == report["rewards"] and first["costs"] == report["costs"]


def said(report: dict[str, Any]) -> str:
    """A report for people."""
    rewards, costs = report.get("rewards"), report.get("costs")
    parts = [f"reward {', '.join(f'{reward:g}' for reward in rewards)}"] if rewards else []
    return ", ".join([*parts, f"cost {texts(costs)}"] if costs is not None else parts)


def texts(units: Sequence[int]) -> str:
    """Amounts as text."""
    return ", ".join(map(amounts.text, units))
