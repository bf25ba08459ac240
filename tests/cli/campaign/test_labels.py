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
    for line in ("labels prompts", "labels prompts --key team"):
        assert complaint(line, code=0).startswith("No ask had such a label")
