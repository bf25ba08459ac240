"""Verbs that are being deleted on main; this goes with them."""

from __future__ import annotations

from typing import Any


class Gone:
    """Verbs that are not there any more."""

    def add_webhook(self, *_: Any, **__: Any) -> Any:
        """Do nothing."""
        raise NotImplementedError

    remove_webhook = webhooks = add_webhook
