"""The rules of reports: what a ticket cost, what it brought, and that its call did not work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from purse.base import amounts
from purse.campaign.contexts import CONTEXT
from purse.campaign.ledger import settle
from purse.campaign.make_results import receipt
from purse.campaign.periods.period import PERIOD
from purse.campaign.records import TicketRecord, check_overrun
from purse.campaign.results import Receipt
from purse.campaign.states import (
    FAILED,
    HELD,
    OPEN,
    SETTLED,
    SKIPPED,
    TOLD,
    VOID,
)
from purse.campaign.transaction import BaseTransaction
from purse.errors import Conflict, InvalidInput, TicketError

REPORTED = (TOLD, SETTLED, FAILED)  # states in which the cost is known


class ReportRules(BaseTransaction):
    """What a report is answered with."""

    def tell(self, ticket: int, rewards: Sequence[float], costs: Sequence[int]) -> Receipt:
        """Take a whole report (P3, P6)."""
        record = self.find(ticket)
        self.check_report(record, rewards, costs)
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
        costs = self.all_costs(costs)
        self.check_report(record, costs=costs)
        if record.state in REPORTED:
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
        self.check_report(record, rewards)
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
        costs = self.all_costs(costs)
        self.check_report(record, costs=costs)
        if record.state == FAILED and record.body["report"]["costs"] == list(costs):
            return receipt(record, duplicate=True)
        if record.state not in OPEN:
            raise self.conflict(record, {"fail": list(costs)}, f"failed, {said({'costs': costs})}")
        priced = self.price(record, list(costs))
        self.add("failed", {**priced, "reason": reason}, ticket=ticket)
        return receipt(self.ledger.tickets[ticket])

    def report(
        self, record: TicketRecord, rewards: list[float], costs: list[int], **more: bool
    ) -> Receipt:
        """Bring reward and cost together: the entry that the policy learns from."""
        known = {name: record.body[name] for name in ("t", "arms", "probabilities")}
        if CONTEXT in record.body:  # repeated, so that the policy learns from this entry alone
            known[CONTEXT] = record.body[CONTEXT]
        if record.state == SETTLED:
            money = {**record.body["report"], "settled": True}
        else:
            money = self.price(record, costs)
        self.add("told", {**known, "rewards": rewards, **money, **more}, ticket=record.id)
        return receipt(self.ledger.tickets[record.id])

    def price(self, record: TicketRecord, costs: list[int]) -> dict[str, Any]:
        """What is spent of a hold, and what is overrun (P6)."""
        spent, overrun = settle(
            record.body["held"] if record.state in OPEN else [0] * len(costs), costs
        )
        for _, balances in self.levels() if any(overrun) else ():
            check_overrun(balances, overrun)
        money = {"costs": costs, "from": record.state, "spent": spent, "overrun": overrun}
        if record.state in OPEN and self.ledger.head.period:
            rest = [most - paid for most, paid in zip(record.body["held"], spent, strict=True)]
            money |= self.refund(record.body[PERIOD], rest)
        return money

    def void(self, ticket: int) -> Receipt:
        """Release a hold."""
        record = self.find(ticket)
        self.refuse_skipped(record, "void")
        if record.state in REPORTED:
            raise self.conflict(record, {"void": True}, "void")
        if record.state == VOID:
            return receipt(record, duplicate=True)
        held = record.body["held"]
        back = self.refund(record.body.get(PERIOD, 0), held)
        body = {"from": record.state, "released": held, **back}
        self.add("voided", body, ticket=ticket)
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

    def all_costs(self, costs: Sequence[int]) -> Sequence[int]:
        """Costs of all resources; one 0 stands for all of them."""
        return [0] * len(self.terms.resources) if list(costs) == [0] else costs

    def check_report(
        self,
        record: TicketRecord,
        rewards: Sequence[float] | None = None,
        costs: Sequence[int] | None = None,
    ) -> None:
        """Refuse a report of a round that passed, and one that no user can have made."""
        self.refuse_skipped(record)
        for field, given, wanted in (
            ("reward", rewards, 1),
            ("cost of each resource", costs, len(self.terms.resources)),
        ):
            if given is not None and len(given) != wanted:
                raise InvalidInput(
                    f"ticket {record.id} needs one {field}, not {len(given)} numbers"
                )

    def expire(self, due: Sequence[TicketRecord]) -> None:
        """Presume spent what has outlived its deadline; and wait no longer for rewards
        that have not come in time.
        """
        for record in due:
            if record.deadline is None or record.deadline > self.now:
                continue
            if record.state == HELD:
                self.add("expired", {"units": record.body["held"]}, ticket=record.id)
            elif record.state == SETTLED and (missing := self.terms.missing_reward) is not None:
                self.report(record, [missing], record.body["report"]["costs"], missing=True)


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
