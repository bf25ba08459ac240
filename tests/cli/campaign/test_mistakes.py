"""What is wrong is one line, in the words of the library, and an exit code."""

from __future__ import annotations

import pytest

from tests.support.campaign_cli import NEW, Complaint, Run

ONE = "new x --arm a=1 --budget 5 --cost-min 1"
TWO = "new x --arm a=1,5 --budget 5,9 --resource USD --resource tokens"
ROOM = "--capacity 4 --cost-ceiling 0.1"
SEEN = '{"length": [0, 8000], "source": ["chat", "code"]}'


MISTAKES = [
    ("new 'x y' --arm a=1 --budget 5", "name='x y': must be 1 to 100 letters"),
    ("new x --budget 5", "Missing option '--arm'"),
    ("new x --arm small --budget 1", "arm='small': must be NAME=COST, such as small=0.01"),
    ("new x --arm a=1 --arm a=2 --budget 9", "arm='a': must be given once"),
    ("new x --arm a=1 --budget -5", "budget='-5': must be positive"),
    ("new x --arm a=1 --budget 5,6", "budget=['5', '6']: must be one positive number"),
    (f"{ONE},2", "cost_min=[['1', '2']]: must be one number"),
    (f"{ONE} --cost-min b=1", "unknown arm in cost_min 'b'"),
    ("new x --arm a=1 --budget 5 --cost-min 2", "cost_min=2: must be at most"),
    (f"{ONE} --expires-after soon", "expires_after='soon': must be a number above 0"),
    (f"{ONE} --horizon x", "horizon='x': must be a whole number"),
    (f"{ONE} --policy exp4", "unknown policy 'exp4'"),
    (f"{ONE} --exlore 1", "No such option '--exlore'"),
    (f"{ONE} --cooldown 0", "cooldown=0: must be a number above 0"),
    (f"{ONE} --missing-reward 0", "needs reward_within"),
    (f"{ONE} --reward-within 1", "needs missing_reward"),
    (f"{ONE} --missing-reward no", "missing_reward='no'"),
    (f"{ONE} --reward-range 1,0", "reward_range=[1, 0]: must be two numbers"),
    (f"{ONE} --explore 2", "explore=2: must be a number"),
    (f"{ONE} --arm b=1 --capacity 1", "capacity=1"),
    (f"{ONE} --cost-ceiling 0.5", "must be at least the most of arm 'a'"),
    (f"{ONE} --cost-ceiling b=1", "unknown arm in cost_ceiling 'b'"),
    (f"{ONE} --cost-ceiling =2", "arm='=2': must be NAME=COST"),
    (f"{ONE} --cost-ceiling 1,2", "must be one amount, or one per arm"),
    (f"{ONE} --features a,a", "'a'"),
    (f"{ONE} --features {{nonsense", "features='{nonsense': must be JSON"),
    (f"{TWO} --every year", "every='year'"),
    (f"{TWO} --every day --time-zone Europe/Berln", "did you mean 'Europe/Berlin'"),
    (f"{TWO} --carry all", "needs every"),
    (f"{TWO} --every day --carry some", "carry='some'"),
    ("status nothing", "there is no campaign 'nothing'"),
    ("ask promts", "there is no campaign 'promts'; did you mean 'prompts'?"),
    ("ask prompts -n 0", "n=0: must be a whole number from 1 to 1000"),
    ("ask prompts -n many", "n='many': must be a whole number from 1 to 1000"),
    ("ask prompts --arm smal", "unknown arm in arms 'smal'; did you mean 'small'?"),
    ("ask prompts --most small", "arm='small': must be NAME=COST"),
    ("ask prompts --most small=0.02", "must be at most the arm's maximum, 0.01"),
    ("ask prompts --most small=x", "arms['small']='x': must be a number"),
    ("ask prompts --most small=1,2", "must be one amount for each of the resources"),
    ("ask prompts --most small=1 --most small=2", "most='small': must be given once"),
    ("ask prompts --arm small --most small=1", "give either --arm or --most"),
    ("ask prompts --label tenant", "labels['tenant']='': must be text"),
    ("ask prompts --label =x", "labels='': a key must be text"),
    ("ask prompts --label a=x --label a=y", "label='a': must be given once"),
    ("tell prompts one --reward 1 --cost 1", "ticket='one': must be a whole number"),
    (f"tell prompts {'9' * 30} --reward 1 --cost 1", "ticket=99"),
    ("tell prompts 7 --reward 1 --cost 1", "ticket 7 is not one that campaign"),
    ("tell prompts 1 --reward 1", "ticket 1: give both --reward and --cost"),
    ("tell prompts - --reward 1", "read from stdin"),
    ("tell prompts 1 --reward 1 --cost 0,5", "cost=['0', '5']: must be one amount for each"),
    ("settle prompts 1", "Missing option '--cost'"),
    ("void prompts 7", "ticket 7 is not one that campaign"),
    ("void prompts x", "ticket='x': must be a whole number"),
    ("probabilities prompts --arm smal", "unknown arm in arms 'smal'"),
    ("tickets prompts --state lost", "states='lost': must be one of 'held'"),
    ("labels prompts --limit 0", "limit=0: must be a whole number from 1 to 10000"),
    ("top-up prompts -3", "No such option '-3'"),
    ("top-up prompts -- -3", "amount='-3': must be positive"),
    ("top-up prompts 0", "amount='0': must be positive"),
    ("top-up prompts 1,5", "amount=['1', '5']: must be one amount for each"),
    ("set-alerts prompts 200%", "alerts='200%': must be a percentage"),
    ("add-arm prompts medium --cost-max 1", "between the cost_min of arm"),
    ("add-arm prompts medium --cost-max x", "cost_max='x': must be a number"),
    ("add-arm prompts ''", "name='': must be a printable name"),
    ("add-arm nothing medium", "there is no campaign 'nothing'"),
    ("retire-arm prompts smal", "unknown arm 'smal'"),
    ("set-arm prompts smal --cost-max 1", "unknown arm 'smal'"),
    ("export prompts -o no/such/folder/file", "no/such/folder/file"),
    ("restore missing.jsonl", "missing.jsonl"),
    ("restore purse.db", "purse.db"),
    ("list --storage ftp://x", "storage='ftp://x'"),
    ("watch nothing", "there is no campaign 'nothing'"),
    ("audit nothing", "there is no campaign 'nothing'"),
    ("audit prompts --acknowledged missing", "cannot read 'missing': No such file"),
    ("audit prompts --noted abc", "noted='abc': must be the entries and the digest"),
    ("audit prompts --noted 3:", "noted='3:': must be the entries and the digest"),
    ("audit prompts --noted x:abc", "noted='x': must be a whole number"),
]
HERE = ("restore", "watch", "export", "list")  # what no server is asked for


@pytest.mark.parametrize(("line", "part"), MISTAKES)
def test_what_is_wrong_is_one_line_and_exit_code_2(
    complaint: Complaint, run: Run, line: str, part: str
) -> None:
    run(" ".join(NEW) + f" {ROOM}")
    assert part in complaint(line)


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("ask prompts", "context: is missing; the features are length, source"),
        ("ask prompts --context length=1", "context: has no features: 'source'"),
        ("ask prompts --context length", "context='length': must be NAME=VALUE,NAME=VALUE"),
        ("ask prompts --context length=1,length=2", "context='length': must be given once"),
        ("ask prompts --context length=,source=chat", "length"),
        ("ask prompts --context @missing.json", "cannot read 'missing.json': No such file"),
        ("ask prompts --context {nonsense", "context='{nonsense': must be JSON"),
        ("ask prompts -n 2 --context length=1,source=chat", "contexts"),
        ("ask prompts --context length=1,source=chat --context length=1,source=chat", "contexts"),
        ("probabilities prompts", "context: is missing"),
    ],
)
def test_a_context_that_does_not_fit_is_one_line_and_exit_code_2(
    run: Run, complaint: Complaint, line: str, part: str
) -> None:
    run(" ".join(NEW), "--features", SEEN)
    assert part in complaint(line)


def test_the_words_are_the_same_if_a_server_keeps_the_campaign(
    run: Run, complaint: Complaint, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [line for line, _ in MISTAKES if not line.startswith(HERE)]

    def said(storage: str) -> list[str]:
        monkeypatch.setenv("PURSE_STORAGE", storage)
        run(" ".join(NEW) + f" {ROOM}")
        return [complaint(line) for line in lines]

    assert said(address) == said("sqlite:///purse.db")
