"""The verbs of a campaign, wherever it is kept: what each takes, returns and raises.

This package imports nothing heavy, for the client's sake.
"""
