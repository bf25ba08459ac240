"""The receiver of the page verifies what is sent."""

from __future__ import annotations

import re
from typing import Any

from purse.campaign.storage.memory import Memory
from purse.campaign.webhooks.deliverer import Deliverer
from purse.campaign.webhooks.sending import Sender
from tests.support.paths import ROOT
from tests.support.receiver import receiver, spent


def test_the_receiver_of_the_page_knows_genuine_messages() -> None:
    page = (ROOT / "docs" / "alerts.md").read_text()
    (block,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    scope: dict[str, Any] = {}
    exec(compile(block, "alerts.md", "exec"), scope)
    is_genuine, storage = scope["is_genuine"], Memory()
    campaign = spent("p", storage)
    with receiver() as made:
        added = campaign.add_webhook(made.url)
        campaign.top_up(1)
        Deliverer(storage, Sender(allow_private=True)).run(forever=False)
    (message,) = made.messages
    headers = message.headers
    assert is_genuine(added.secret, headers, message.body)
    assert not is_genuine(added.secret, headers, message.body + b" ")
    assert not is_genuine(campaign.add_webhook(made.url).secret, headers, message.body)
    old = {**headers, "webhook-timestamp": str(int(headers["webhook-timestamp"]) - 999)}
    assert not is_genuine(added.secret, old, message.body)
