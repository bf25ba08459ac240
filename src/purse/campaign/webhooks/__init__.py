"""Webhooks: events of a journal sent to addresses that people have named."""
