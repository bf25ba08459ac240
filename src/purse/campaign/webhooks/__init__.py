"""Webhooks: a follower sends the events of journals to the receivers that a file names."""
