"""The journal's entries, and all that is folded from them: balances, tickets, levels."""
