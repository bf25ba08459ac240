"""Campaigns and accounts on levels, whatever storage a test names."""

from __future__ import annotations

from typing import Any

from purse.campaign.local.account import LocalAccount
from purse.campaign.local.campaign import LocalCampaign


class Campaign(LocalCampaign):
    @classmethod
    def _at(cls, storage: Any) -> Any:
        return cls


class Account(LocalAccount):
    @classmethod
    def _at(cls, storage: Any) -> Any:
        return cls
