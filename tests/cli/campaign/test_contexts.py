from __future__ import annotations

import json
from pathlib import Path

import pytest

from purse import Campaign, Conflict, InvalidInput
from tests.support.campaign_cli import NEW, Run, data
from tests.support.contexts import last_ask

JSON = '{"length": [0, 8000], "source": ["chat", "code"]}'


def test_features_are_names_or_json(run: Run) -> None:
    run(" ".join(NEW), "--features", "length, code")
    terms = Campaign.open("prompts").terms
    assert terms.features == {"length": {}, "code": {}}
    run(" ".join(NEW).replace("prompts", "other"), "--features", JSON)
    other = Campaign.open("other").terms
    assert other.context.columns == ("length", "source=chat", "source=code")


def test_an_ask_has_a_context(run: Run, tmp_path: Path) -> None:
    run(" ".join(NEW), "--features", JSON)
    (tmp_path / "c.json").write_text(json.dumps([812, "chat"]))
    words = ("length=812,source=chat", '{"length": 812, "source": "chat"}', "@c.json")
    tickets = [data(run("ask prompts --request r --json", "--context", each)) for each in words]
    assert tickets[0] == tickets[1] == tickets[2]
    campaign = Campaign.open("prompts")
    assert last_ask(campaign)["context"] == [-0.797, 1.0, 0.0]
    refused = run("ask prompts --request r --context length=1,source=chat", code=1).exception
    assert isinstance(refused, Conflict)
    both = "--context length=1,source=chat --context length=9000,source=code"
    assert run(f"ask prompts -n 2 {both}").stdout.count("\n") == 2
    assert run("probabilities prompts --context length=1,source=chat").stdout.count("\n") == 2
    assert "  context length: -0.9998 to 1\n" in run("status prompts").stdout
    assert "  values clipped to their ranges: 1" in run("status prompts").stdout


def test_an_export_without_contexts(run: Run, tmp_path: Path) -> None:
    run(" ".join(NEW), "--features", JSON)
    run("ask prompts --context length=812,source=chat")
    assert '"context"' in run("export prompts").stdout
    assert '"context"' not in run("export prompts --without-contexts").stdout
    Campaign.open("prompts").export(tmp_path / "shared.jsonl", contexts=False)
    assert run("restore shared.jsonl --name copy").stdout.startswith("copy: running")
    with pytest.raises(InvalidInput, match="the features are"):
        Campaign.open("copy").ask()
