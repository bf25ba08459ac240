"""Accounts: one purse for many campaigns, with a journal of its own."""
