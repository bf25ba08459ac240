"""A budget in one line: a client for the SDKs of providers, whose requests a campaign pays."""
