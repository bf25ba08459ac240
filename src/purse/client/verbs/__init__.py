"""Each verb of a campaign as requests to the service, and how their answers are read.

The arguments are those of `purse.Campaign`, after the name of the campaign.
"""
