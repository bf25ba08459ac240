"""`purse.Account`: one purse for many campaigns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from purse.campaign.api import defaults, kinds
from purse.campaign.api.results import AccountStatus, Audit
from purse.campaign.api.states import ACCOUNT, ACCOUNT_ALERT_WORDS
from purse.campaign.api.verb import of_all, verb
from purse.campaign.budget import Budget, Place
from purse.errors import CampaignEnded, CampaignExists, NotFound, PolicyFileRefused

if TYPE_CHECKING:
    from purse.campaign.terms.budget_terms import AccountTerms


class Account(Budget[AccountStatus]):
    """An account: a budget that all campaigns below it share, kept in their storage.

    A hold of a campaign has to fit into the campaign's own budget and into every account above it.
    The budget of a campaign below an account is a ceiling, not a reservation.
    """

    KIND, STATUS, ALERTS = ACCOUNT, AccountStatus, ACCOUNT_ALERT_WORDS

    @classmethod
    @of_all("POST", "admin", CampaignExists, CampaignEnded, NotFound)
    def create(
        cls,
        name: kinds.Name,
        *,
        budget: kinds.Amounts,
        resources: kinds.Resources | None = None,
        account: kinds.Name | None = None,
        every: str | None = None,
        time_zone: str | None = None,
        carry: str = defaults.CARRY,
        alerts: kinds.Alerts = defaults.ALERTS,
        storage: Place = defaults.STORAGE,
        token: str | None = None,
        exist_ok: kinds.ExistOk = False,
    ) -> Self:
        """Create an account in its storage and return it.

        name        no other account and no campaign of the storage has it
        resources   the names of what is spent; everything below the account has the same; None:
                    those of the account above, or "units"
        account     the account above it, which has none above itself; None: none
        alerts      rules of the events that webhooks are told of: "80%" of the budget, from "1%" to
                    "100%", and "overrun"
        exist_ok    take the account of this name if it was created with the same values; "update":
                    if budget and alerts are the only others, set them as `set_budget` and
                    `set_alerts` do
        budget, every, time_zone, carry, storage, token   as for `Campaign.create`

        Raise `CampaignExists` when the name is in use, or with `exist_ok` for an account that was
        created with other values.
        Raise `NotFound` when there is no account above it of that name.
        Raise `InvalidInput` when a value is not allowed.
        """
        return cls._create(locals())

    @property
    def terms(self) -> AccountTerms:
        """What the account was created with, if this process reaches its storage itself."""
        terms: AccountTerms = self._here().terms
        return terms

    @verb("POST", "audit", "admin", PolicyFileRefused, timeout=600.0)
    def audit(self) -> Audit:
        """Return where the account differs from its journal and from those of all below it."""
        return self._local.audited()
