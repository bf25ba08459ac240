"""What all verbs of a campaign share: its terms, its storage, and who commits."""

from __future__ import annotations

from purse.base import validation
from purse.campaign import make_results
from purse.campaign.group_commit import GroupCommitter, check_same
from purse.campaign.request_ids import checked_request, new_request
from purse.campaign.results import CampaignTicket, Status
from purse.campaign.storage.base import Storage
from purse.campaign.terms import Terms
from purse.errors import invalid


class BaseCampaign:
    """A campaign that can be looked at."""

    def __init__(self, terms: Terms, kept: Storage) -> None:
        self.terms = terms
        self.storage = kept
        self._committer = GroupCommitter(terms, kept)

    @property
    def name(self) -> str:
        return self.terms.name

    def __repr__(self) -> str:
        return f"<Campaign {self.name!r}, {self.terms.policy}, {len(self.terms.arms)} arms>"

    def status(self) -> Status:
        look = self.storage.overview(self.name)
        check_same(self.terms, look.head)
        return make_results.status(self.terms, *look, now=self.storage.now())

    def _request(self, given: str | None) -> str:
        """Return the name of a request, or a new one where none is given."""
        return new_request() if given is None else checked_request(given)

    def _number(self, ticket: CampaignTicket | int) -> int:
        if isinstance(ticket, CampaignTicket):
            if ticket.campaign != self.name:
                raise invalid("ticket", ticket, f"must be one of campaign {self.name!r}")
            ticket = ticket.id
        return validation.integer("ticket", ticket, low=1, high=2**62)
