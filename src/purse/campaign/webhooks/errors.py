"""Why a message was not sent, in a word or two that name no address."""

from __future__ import annotations


class NotSent(Exception):
    """A message that did not arrive, or perhaps did; the text is stored and shown."""
