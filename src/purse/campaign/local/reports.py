"""Reports on tickets, committed to the storage."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from purse.base.text import legible
from purse.campaign import operations
from purse.campaign.local.base import BaseCampaign
from purse.campaign.operations import Report
from purse.campaign.read_report import read_costs, read_report, read_rewards
from purse.campaign.results import CampaignTicket, Receipt
from purse.campaign.verbs.reports import ReportVerbs
from purse.errors import PurseError, invalid

REASON = 200  # characters of a reason that the journal keeps


class LocalReports(BaseCampaign, ReportVerbs):
    """Reports on tickets."""

    def tell(self, ticket: CampaignTicket | int, reward: Any, cost: Any) -> Receipt:
        (answer,) = self.tell_many([(ticket, reward, cost)])
        if isinstance(answer, PurseError):
            raise answer
        return answer

    def tell_many(
        self, reports: Iterable[tuple[CampaignTicket | int, Any, Any]]
    ) -> list[Receipt | PurseError]:
        read = [self._read(*report) for report in reports]
        found = iter(
            self._committer.do(
                operations.tell([report for report in read if isinstance(report, Report)])
            )
        )
        return [next(found) if isinstance(report, Report) else report for report in read]

    def settle(self, ticket: CampaignTicket | int, cost: Any) -> Receipt:
        number = self._number(ticket)
        return self._committer.do(operations.settle(number, read_costs(self.terms, cost)))

    def reward(self, ticket: CampaignTicket | int, reward: Any) -> Receipt:
        number = self._number(ticket)
        return self._committer.do(operations.reward(number, read_rewards(self.terms, reward)))

    def fail(self, ticket: CampaignTicket | int, cost: Any = 0, reason: str = "") -> Receipt:
        if not isinstance(reason, str):
            raise invalid("reason", reason, "must be text")
        number = self._number(ticket)
        costs = read_costs(self.terms, cost)
        return self._committer.do(operations.fail(number, costs, legible(reason, REASON)))

    def void(self, ticket: CampaignTicket | int) -> Receipt:
        return self._committer.do(operations.void(self._number(ticket)))

    def _read(self, ticket: CampaignTicket | int, reward: Any, cost: Any) -> Report | PurseError:
        """Return a report, or the error that says why it is not one."""
        try:
            return Report(self._number(ticket), *read_report(self.terms, reward, cost))
        except PurseError as error:
            return error
