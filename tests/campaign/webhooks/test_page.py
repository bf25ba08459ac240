"""The receiver of the page verifies what is sent."""

from __future__ import annotations

import base64
import re
from typing import Any

from purse.campaign.storage.connect import in_memory
from tests.support.paths import ROOT
from tests.support.receiver import SECRET, follower, receiver, spent


def test_the_receiver_of_the_page_knows_genuine_messages() -> None:
    page = (ROOT / "docs" / "alerts.md").read_text()
    (block,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    scope: dict[str, Any] = {}
    exec(compile(block, "alerts.md", "exec"), scope)
    is_genuine, storage = scope["is_genuine"], in_memory()
    campaign = spent("p", storage)
    with receiver() as made:
        follows = follower(storage, made)
        follows.look()
        campaign.top_up(1)
        follows.look()
    (message,) = made.messages
    headers, secret = message.headers, f"whsec_{base64.b64encode(SECRET).decode()}"
    assert is_genuine(secret, headers, message.body)
    assert not is_genuine(secret, headers, message.body + b" ")
    assert not is_genuine(secret.replace("1", "2"), headers, message.body)
    old = {**headers, "webhook-timestamp": str(int(headers["webhook-timestamp"]) - 999)}
    assert not is_genuine(secret, old, message.body)
