"""What a process needs to play a campaign of `uniform`, loaded when this is imported. It opens no
file, so that whoever is forked afterwards shares nothing with others.
"""

from purse import Campaign

_campaign = Campaign.create(
    "warm", arms={"a": 1}, budget=1, cost_min="0.01", policy="uniform", storage="memory:warm"
)
_campaign.tell(_campaign.ask(), 1, 1)
