"""`purse campaign ...` for people: what is printed, and what only a command line has.

That each verb answers here as it does in Python is what `test_transcript.py` plays.
"""

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from purse import Campaign, InvalidInput
from purse.base import exit_codes
from tests.support.campaigns import last_ask
from tests.support.cli import NEW, Command, Run, complaint

ODD = "é=1, 2%"
JSON = '{"length": [0, 8000], "source": ["chat", "code"]}'


def test_a_campaign_from_its_creation_to_its_end(run: Run) -> None:
    assert "spent 0 of 25" in run(f"{NEW} --resource USD")
    assert run("ask prompts --arm small").split("\t")[::3] == ["1", "0.01\n"]
    lines = run("ask prompts --arm large -n 2").splitlines()
    assert [line.split("\t")[::3] for line in lines] == [["2", "0.05"], ["3", "0.05"]]
    assert run("ask prompts --most large=0.02").split("\t")[1::2] == ["large", "0.02\n"]
    told = run("tell prompts 1 --reward 0.93 --cost 0.0021")
    assert told == "ticket 1 told, spent 0.0021, refunded 0.0079\n"
    assert run("tell prompts 1 --reward 0.93 --cost 0.0021").endswith("(duplicate)\n")
    assert run("void prompts 2") == "ticket 2 void, spent 0, refunded 0.05\n"
    assert run("settle prompts 3 --cost 0.003").startswith("ticket 3 settled, spent 0.003")
    assert run("reward prompts 3 --reward 0.5").startswith("ticket 3 told, spent 0.003")
    assert run("probabilities prompts --arm large") == "small\t0\nlarge\t1\n"
    assert run("fail prompts 4 --cost 0 --reason down").startswith("ticket 4 failed, spent 0")
    for _ in range(2):
        assert "spent 0.0051 of 30" in run("top-up prompts 5 --request raise")
    for verb, status in (("pause", "paused"), ("resume", "running")):
        assert run(f"{verb} prompts").startswith(f"prompts: {status}")
    run("ask prompts --arm small -n 2")
    tickets = [line.split("\t")[::4] for line in run("tickets prompts").splitlines()]
    assert tickets == [["5", "held"], ["6", "held"]]
    assert run("end prompts").startswith("prompts: ended")
    assert run("tell prompts 5 --reward 1 --cost 0.06").endswith("overrun 0.05\n")
    assert "more was spent than held" in run("status prompts").split("!")[1]
    assert "all agree with the journal" in run("audit prompts")


def test_reports_from_stdin_stand_alone(command: Command, run: Run) -> None:
    run(NEW)
    run("ask prompts -n 3")
    reports = "".join(
        json.dumps({"ticket": ticket, "reward": 0.5, "cost": "0.002"}) + "\n\n"
        for ticket in (1, 99, 3)
    )
    code, out, err = command("campaign tell prompts -", stdin=reports)
    assert [line.split(",")[0] for line in out.splitlines()] == ["ticket 1 told", "ticket 3 told"]
    assert (code, err.startswith("purse: ticket 99 is not one"), err.count("\n")) == (2, True, 1)
    again = json.loads(command("campaign tell prompts - --json", stdin=reports)[1])
    assert [(each["ticket"], each["duplicate"]) for each in again["receipts"]] == [
        (1, True),
        (3, True),
    ]
    assert [wrong["ticket"] for wrong in again["errors"]] == [99]
    said = complaint(command, "campaign tell prompts 2 --reward 7 --cost 0")
    assert said.startswith("purse: ticket 2: reward=7")
    assert command("campaign tell prompts -", stdin="")[0] == 0


def test_a_bad_line_is_named_and_nothing_is_told(command: Command, run: Run) -> None:
    run(NEW)
    run("ask prompts -n 2")
    good = '{"ticket": 1, "reward": 1, "cost": "0.001"}'
    for line in (
        "{",
        "[1, 2, 3]",
        '{"ticket": 1, "reward": 1}',
        good.replace("1", '"1"', 1),
        good.replace("}", ', "x": 0}'),
    ):
        code, _, err = command("campaign tell prompts -", stdin=f"{good}\n{line}\n")
        assert (code, err.startswith("purse: stdin, line 2=")) == (2, True)
    assert Campaign.open("prompts").status().counts["told"] == 0


def test_terms_of_arms_are_for_all_or_for_one(run: Run) -> None:
    run(f"{NEW} --reward-range -1,20 --capacity 3 --cost-ceiling 0.1 --cost-ceiling large=0.2")
    terms = Campaign.open("prompts").terms
    assert (terms.reward_range, terms.floor) == ((-1, 20), ((100_000,),) * 3)
    assert terms.ceiling == ((100_000_000,), (200_000_000,), (200_000_000,))
    run(f"{NEW.replace('prompts', 'other')} --cost-ceiling small=0.02 --cooldown never")
    terms = Campaign.open("other").terms
    assert terms.cost_ceiling == ((20_000_000,), (50_000_000,))
    assert (terms.cooldown, terms.missing_reward) == (None, None)


def test_an_arm_that_is_retired_is_shown_as_such_whatever_its_name(run: Run) -> None:
    run(f"{NEW} --capacity 4 --cost-ceiling 0.1")
    arm = "--arm"
    assert run("add-arm", "--cost-max", "0.03", "--", "prompts", arm).startswith("prompts:")
    assert run("ask", "prompts", "--most", f"{arm}=0.015").split("\t")[3] == "0.015\n"
    assert f"  retired: {arm}\n" in run("retire-arm", "--", "prompts", arm)
    assert f"{arm} (retired)" in run("watch prompts --once")
    assert "retired" not in run("add-arm", "--", "prompts", arm)


def test_status_shows_arms_that_cool_down_periods_and_alerts(command: Command, run: Run) -> None:
    more = "--every month --time-zone Europe/Berlin --carry all --alert 80% --alert overrun"
    said = run(f"{NEW} --cooldown 1h {more}")
    assert "period 1 (every month, until 20" in said
    assert "spent 0 of 25" in said
    assert "alerts: 80%, overrun" in said
    assert "alerts: 50%" in run("set-alerts prompts 50%")
    assert "alerts" not in run("set-alerts prompts")
    run("ask prompts --arm small")
    assert "cooling" not in run("status prompts")
    run("fail prompts 1")
    text = run("status prompts")
    assert "  cooling down: small, tried again from 2" in text
    assert "! calls of 'small' fail" in text
    assert "small (cooling down)" in run("watch prompts --once")
    said = complaint(command, "campaign ask prompts --arm small", exit_codes.COOLING)
    assert "ask again in" in said
    run(f"{NEW.replace('prompts', 'probed')} --cooldown 0.001")
    run("ask probed --arm small")
    run("fail probed 1")
    run("ask probed --arm small")
    assert "  cooling down: small, tried by ticket 2\n" in run("status probed")


def test_labels_are_printed_with_their_sums(command: Command, run: Run) -> None:
    run(NEW)
    for line in ("labels prompts", "labels prompts --key team"):
        assert complaint(command, f"campaign {line}", 0).startswith("No ask had such a label")
    run("ask prompts --arm small --label tenant=acme --label feature=a=b")
    run("ask prompts -n 2 --arm small --label tenant=acme")
    run("tell prompts 1 --reward 1 --cost 0.004")
    rows = ["tenant\tacme\t3\t0.004\t0.02\t0\t0", "feature\ta=b\t1\t0.004\t0\t0\t0"]
    assert run("labels prompts").splitlines() == rows
    assert run("labels prompts --limit 1").splitlines() == rows[:1]
    assert run("labels prompts --key feature").splitlines() == rows[1:]


def test_labels_by_day_are_rows_of_csv(command: Command, run: Run) -> None:
    run(NEW)
    day = datetime.now(UTC).date().isoformat()
    run("ask prompts --arm small --label tenant=a,b --label team=x")
    run("tell prompts 1 --reward 1 --cost 0.004")
    run("ask prompts --arm small --label tenant=a,b")
    found = run("labels prompts --by day --csv")
    if day != datetime.now(UTC).date().isoformat():  # midnight came in between
        return
    assert found.splitlines() == [
        "day,key,value,resource,tickets,spent,held,presumed,overrun",
        f'{day},tenant,"a,b",units,2,0.004,0.01,0,0',
        f"{day},team,x,units,1,0.004,0,0,0",
    ]
    rows = run("labels prompts --csv --key team").splitlines()
    assert rows[1:] == ["team,x,units,1,0.004,0,0,0"]
    assert run("labels prompts --by day --key team").split("\t")[:4] == [day, "team", "x", "1"]
    both = complaint(command, "campaign labels prompts --csv --json", exit_codes.MISTAKE)
    assert "give either --csv or --json" in both


def test_what_a_campaign_without_an_end_buys_is_said_once(command: Command) -> None:
    def said(more: str) -> int:
        name, *rest = more.split(" ", 1)
        line = f"campaign new {name} --arm a=0.01 --budget 25"
        code, out, err = command(" ".join([line, *rest, "--json"]))
        assert (code, json.loads(out)["name"]) == (0, name)
        return err.count("in 2,500 rounds or more. If fewer come")

    assert said("a") == 1
    for more in ("b --horizon 9", "c --every day", "d --until 2999-01-01", "e --policy uniform"):
        assert said(more) == 0


def test_features_are_names_or_json_and_contexts_are_typed_three_ways(
    command: Command, run: Run, tmp_path: Path
) -> None:
    run(NEW.replace("prompts", "names"), "--features", "length, code")
    assert Campaign.open("names").terms.features == {"length": {}, "code": {}}
    run(NEW, "--features", JSON)
    campaign = Campaign.open("prompts")
    assert campaign.terms.context.columns == ("length", "source=chat", "source=code")
    (tmp_path / "c.json").write_text(json.dumps([812, "chat"]))
    typed = ("length=812,source=chat", '{"length": 812, "source": "chat"}', "@c.json")
    tickets = {run("ask prompts --request r", "--context", each) for each in typed}
    assert len(tickets) == 1
    assert last_ask(campaign)["context"] == [-0.797, 1.0, 0.0]
    both = "--context length=1,source=chat --context length=9000,source=code"
    assert run(f"ask prompts -n 2 {both}").count("\n") == 2
    assert run("probabilities prompts --context length=1,source=chat").count("\n") == 2
    assert "  context length: 1 to 8000\n" in run("status prompts")
    assert "  values clipped to their ranges: 1" in run("status prompts")
    (tmp_path / "shared.jsonl").write_text(run("export prompts --without-contexts"))
    assert run("restore shared.jsonl --name copy").startswith("copy: running")
    with pytest.raises(InvalidInput, match="the features are"):
        Campaign.open("copy").ask()


def test_status_without_a_name_lists_all(run: Run) -> None:
    run(NEW)
    run("new ads --arm a=1 --budget 5 --cost-min 1 --resource EUR --policy uniform")
    lines = run("status").splitlines()
    assert lines == ["ads\trunning\t0 of 5 EUR spent", "prompts\trunning\t0 of 25 units spent"]
    assert run("list").splitlines() == lines
    run("ask ads")
    run("tell ads 1 --reward 1 --cost 2")
    assert run("list").splitlines()[0] == "ads\trunning\t2 of 5 EUR spent\t! overrun, dearer"


def test_an_exported_campaign_is_restored_and_audited(
    command: Command, run: Run, tmp_path: Path
) -> None:
    run(NEW)
    run("ask prompts -n 4")
    run("tell prompts 1 --reward 0.5 --cost 0.003")
    lines = run("export prompts")
    said = complaint(command, "campaign export prompts -o journal.jsonl", 0)
    assert said == "6 entries written to journal.jsonl\n"
    assert (tmp_path / "journal.jsonl").read_text() == lines
    assert [path.name for path in tmp_path.glob(".*")] == []
    assert run("restore journal.jsonl --name copy").startswith("copy: running")
    assert "6 entries" in run("audit copy")
    here, copy = (Campaign.open(name).status() for name in ("prompts", "copy"))
    assert here.purses == copy.purses


def test_an_audit_compares_what_others_have_kept(
    command: Command, run: Run, tmp_path: Path
) -> None:
    run(NEW)
    run("ask prompts -n 2")
    run("tell prompts 1 --reward 1 --cost 0.003")
    status = Campaign.open("prompts").status()
    kept = tmp_path / "kept"
    kept.write_text("1\n\n")
    noted = f"{status.entries}:{status.digest}"
    assert "all agree" in run(f"audit prompts --acknowledged {kept} --noted {noted}")
    kept.write_text("1\n2\n9\n")
    code, out, _ = command(f"campaign audit prompts --acknowledged {kept} --noted 4:abc")
    assert (code, out.splitlines()[:3]) == (1, [
        "the report on ticket 2 was acknowledged, and the ticket is held",
        "the report on ticket 9 was acknowledged, and the ticket is not there",
        f"the journal had the digest abc after 4 entries, and has {status.digest} now",
    ])  # fmt: skip
    code, out, _ = command("campaign audit prompts --noted 99:abc --json")
    (finding,) = json.loads(out)["findings"]
    assert (code, "has fewer entries now" in finding) == (1, True)


def test_a_least_cost_that_was_not_given_is_said_and_nothing_is_compiled_yet(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled: list[Any] = []
    monkeypatch.setattr("purse.campaign.run.learner.Learner", compiled.append)
    line = "campaign new x --arm a=0.01 --arm b=5 --budget 25 --policy uniform --resource USD"
    code, first, err = command(line)
    said = "A pull is taken to cost at least: a 0.00001, b 0.005 (--cost-min changes it)"
    assert (code, said in err, compiled) == (0, True, [])
    assert "exist_ok" in complaint(command, line)
    assert command(f"{line} --exist-ok")[:2] == (0, first)
    other = complaint(command, f"{line} --exist-ok --seed 1")
    assert "there is a campaign 'x' already, with other seed than these" in other


def test_a_campaign_that_is_kept_to_the_end_of_python_prints_nothing(tmp_path: Path) -> None:
    lines = (
        "import logging, purse",
        "purse.Campaign.create('x', arms={'a': 1}, budget=5, policy='uniform')",
        "logging.kept = purse.Campaign.open('x')",  # what others keep goes last
    )
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_verbs_reach_a_server_and_what_it_does_not_do_is_one_line(
    command: Command, run: Run, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        assert run(f"{NEW} --exist-ok").startswith("prompts: running")
    assert run("ask prompts -n 5 --request a").count("\n") == 5
    assert run("tell prompts 1 --reward 0.9 --cost 0.002").startswith("ticket 1 told")
    assert run("tickets prompts --limit 1").startswith("2\t")
    assert run("list").startswith("prompts\trunning")
    assert "all agree" in run("audit prompts --full")
    out = tmp_path / "export.jsonl"
    out.write_text(run("export prompts"), encoding="utf-8")
    restored = run(f"restore {out} --name copy --storage sqlite:///{tmp_path}/copy.db")
    assert restored.startswith("copy: running")
    said = complaint(command, "campaign restore a")
    assert "on the machine of the database, by its address" in said
    assert "the database's own address" in complaint(command, "campaign watch prompts --once")
    monkeypatch.setenv("PURSE_TOKEN", "purse_wrong")
    assert "wants a token that it knows" in complaint(command, "campaign status prompts")
    monkeypatch.setattr("purse.client.server.time.sleep", lambda _: None)
    monkeypatch.setenv("PURSE_STORAGE", "http://127.0.0.1:9")
    said = complaint(command, "campaign status prompts", exit_codes.UNAVAILABLE)
    assert "does not answer" in said


def test_watch_once_shows_budget_arms_tickets_and_alarms(run: Run) -> None:
    run(f"{NEW} --resource USD --resource calls")
    run("ask prompts -n 12")
    for ticket, reward, cost in ((1, "0.5", "0.002,0.002"), (2, "1", "0.07,0.01")):
        run(f"tell prompts {ticket} --reward {reward} --cost {cost}")
    text = run("watch prompts --once")
    for part in (
        "prompts  running",
        "round 12",
        "█",
        "25 USD",
        "25 calls",
        "an hour it lasts",
        "USD a pull",
        "10 open tickets:",
        " old",
        "more was spent than held",
    ):
        assert part in text
    rows = [line.split() for line in text.splitlines()]
    pulls = {row[0]: int(row[1]) for row in rows if row[:1] in (["small"], ["large"])}
    assert sum(pulls.values()) == 12


def test_watch_prints_a_line_for_each_change_where_there_is_no_terminal(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(NEW)
    campaign = Campaign.open("prompts")
    doings = iter([campaign.ask, lambda: None, lambda: campaign.tell(1, 1, "0.5"), None])

    def sleep(_: float) -> None:
        doing = next(doings)
        if doing is None:
            raise KeyboardInterrupt
        doing()

    monkeypatch.setattr("purse.cli.watch.time.sleep", sleep)
    empty, asked, told = run("watch prompts").splitlines()
    assert empty == (
        "1 running: units spent 0 held 0 presumed 0 left 25 overrun 0; pulls small 0, large 0"
    )
    assert asked.startswith("2 running: units spent 0 held 0.0")
    assert told.startswith("4 running: units spent 0.5")
    assert "more was spent than held" in told


def test_watch_refreshes_in_a_terminal_until_it_is_interrupted(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(NEW)
    seen = []

    def sleep(_: float) -> None:
        seen.append(1)
        if len(seen) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("purse.cli.watch.time.sleep", sleep)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")  # what makes rich take the output for a terminal
    text = run("watch prompts")
    assert text.count("round 0") > len(seen) == 3  # and once more when it ends
    assert "\x1b[1A" in text  # each view is written over the last
