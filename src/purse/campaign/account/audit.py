"""An account checked against its journal, and its journal against those of its campaigns."""

from __future__ import annotations

from purse.campaign.account.terms import AccountTerms
from purse.campaign.results import Audit
from purse.campaign.storage.base import Storage


def audit(terms: AccountTerms, storage: Storage) -> Audit:
    """Not yet."""
    raise NotImplementedError
