from __future__ import annotations

import pytest

from tests.support.campaign_cli import NEW, Complaint, Run

ONE = "new x --arm a=1 --budget 5"


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("status nothing", "'nothing'"),
        ("ask promts", "there is no campaign 'promts'; did you mean 'prompts'?"),
        ("new x --arm a=1 --arm b=5 --budget 0.5", "largest cost of an arm; that of 'a' is 1"),
        ("tell prompts 1 --reward 1 --cost 0,5", "the decimal point is a point: 0.5"),
        ("top-up prompts 1,5", "amount='1,5': must be one amount"),
        ("new 'x y' --arm a=1 --budget 5 --cost-min 1", "name='x y'"),
        ("new x --arm small --budget 1 --cost-min 1", "arm='small': must be NAME=COST"),
        ("new x --arm a=1 --arm a=2 --budget 9 --cost-min 1", "arm=["),
        ("new x --arm a=1 --budget -5 --cost-min 1", "budget="),
        ("new x --arm a=1 --budget 5,6 --cost-min 1", "budget='5,6': must be one amount"),
        (f"{ONE} --cost-min 2", "cost_min=2"),
        (f"{ONE} --cost-min 1 --expires-after soon", "'soon' is not a time"),
        (f"{ONE} --cost-min 1 --policy exp4", "unknown policy 'exp4'"),
        ("new x --budget 5 --cost-min 1", "--arm"),
        ("ask prompts -n 0", "n=0"),
        ("tell prompts one --reward 1 --cost 1", "ticket='one'"),
        (f"tell prompts {'9' * 30} --reward 1 --cost 1", "ticket="),
        ("tell prompts 7 --reward 1 --cost 1", "ticket 7"),
        ("tell prompts 1 --reward 1", "ticket 1: give both --reward and --cost"),
        ("tell prompts - --reward 1", "read from stdin"),
        ("void prompts 7", "ticket 7"),
        ("void prompts x", "ticket='x'"),
        ("top-up prompts -3", "-3"),
        ("top-up prompts 0", "amount="),
        ("tickets prompts --state lost", "'lost'"),
        ("export prompts -o no/such/folder/file", "no/such/folder/file"),
        ("restore missing.jsonl", "missing.jsonl"),
        ("restore purse.db", "purse.db"),
        ("list --storage ftp://x", "storage='ftp://x'"),
        ("watch nothing", "'nothing'"),
        ("audit nothing", "'nothing'"),
    ],
)
def test_what_is_wrong_is_one_line_and_exit_code_2(
    complaint: Complaint, run: Run, line: str, part: str
) -> None:
    run(*NEW)
    assert part in complaint(line)
