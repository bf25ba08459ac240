"""A level in this process: shared transactions, the policy beside them, audits, restores."""
