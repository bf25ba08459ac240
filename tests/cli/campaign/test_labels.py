from __future__ import annotations

from tests.support.campaign_cli import NEW, Complaint, Run, data


def test_asks_have_labels_and_their_sums_are_printed(run: Run) -> None:
    run(" ".join(NEW), "--policy", "uniform")
    run("ask prompts --arm small --label tenant=acme --label feature=a=b")
    run("ask prompts -n 2 --arm small --label tenant=acme")
    run("tell prompts 1 --reward 1 --cost 0.004")
    assert run("labels prompts").stdout.splitlines() == [
        "tenant\tacme\t3\t0.004\t0.02\t0\t0",
        "feature\ta=b\t1\t0.004\t0\t0\t0",
    ]
    assert run("labels prompts --limit 1").stdout.startswith("tenant\tacme\t3")
    assert run("labels prompts --key feature").stdout == "feature\ta=b\t1\t0.004\t0\t0\t0\n"
    (_, first) = data(run("labels prompts --json"))["labels"]
    assert (first["key"], first["value"], first["spent"]) == ("feature", "a=b", ["0.004"])


def test_a_campaign_without_labels_says_so(run: Run, complaint: Complaint) -> None:
    run(" ".join(NEW))
    assert complaint("labels prompts", code=0).startswith("No ask of prompts had a label")
    assert complaint("labels prompts --key team", code=0).startswith(
        "No ask of prompts had a label team"
    )
    assert "limit=0: must be a whole number from 1 to 10000" in complaint(
        "labels prompts --limit 0"
    )


def test_mistakes_are_one_line(run: Run, complaint: Complaint) -> None:
    run(" ".join(NEW))
    for text in ("tenant", "=x", "tenant=x --label tenant=y"):
        assert "must be KEY=VALUE" in complaint(f"ask prompts --label {text}")
    assert "labels['tenant']" in complaint("ask prompts", "--label", "tenant=")
