"""The file of receivers: read whole, or refused in a line that shows no secret."""

import base64
from pathlib import Path
from typing import Any

import pytest

from purse.campaign.webhooks.file import Receiver, read_file
from purse.errors import InvalidInput

SECRET = b"sesame-sesame-sesame-sesame"
WRITTEN = f"whsec_{base64.b64encode(SECRET).decode()}"
ENVIRONMENT = {
    "FINANCE": WRITTEN,
    "SLACK": "https://hooks.slack.example.com/services/sesame",
    "SHORT": "whsec_c2VzYW1l",
    "HERE": "http://127.0.0.1/sesame",
    "EMPTY": "",
}
ADDRESS = "address = 'https://hooks.example.com/purse'"
WANTS = "campaigns = ['*']"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "webhooks.toml"


def read(file: Path, text: str) -> list[Receiver]:
    file.write_text(text)
    return read_file(file, ENVIRONMENT)


def test_receivers_with_their_patterns(file: Path) -> None:
    text = f"""
    [finance]
    {ADDRESS}
    secret_env = "FINANCE"
    accounts = ["acme"]
    campaigns = ["search-*", "b?"]

    [ops]
    format = "slack"
    address_env = "SLACK"
    campaigns = ["*"]

    [here]
    address_env = "HERE"
    secret_env = "FINANCE"
    accounts = ["*"]
    allow_private = true
    """
    finance, ops, here = read(file, text)
    assert (finance.name, finance.secret, finance.format) == ("finance", SECRET, "standard")
    assert finance.target.authority == "hooks.example.com"
    wanted = [("account", "acme"), ("campaign", "search-a"), ("campaign", "b1")]
    others = [("account", "search-a"), ("campaign", "acme"), ("campaign", "B1"), ("campaign", "b")]
    assert [finance.wants(*each) for each in wanted + others] == [True] * 3 + [False] * 4
    assert (ops.format, ops.target.path, ops.secret) == ("slack", "/services/sesame", b"")
    assert (ops.wants("campaign", "x"), ops.wants("account", "x")) == (True, False)
    assert here.allow_private
    assert "sesame" not in repr([finance, ops, here])


WRONG = {
    "": "receivers=0: must be 1 to 100 tables, one for each",
    "finance = 7": "finance: must be a table, [finance], with address_env or address",
    "['a b']": "receiver='a b': must be 1 to 64 letters, digits, - and _",
    f"[a]\n{WANTS}": "a: must have either address or address_env",
    f"[a]\n{ADDRESS}\naddress_env = 'SLACK'": "a: must have either address or address_env",
    f"[a]\n{ADDRESS}": "a: must have secret_env, the environment variable of its secret",
    f"[a]\n{ADDRESS}\nsecret = '{WRITTEN}'": "a: unknown key 'secret'; did you mean 'secret_env'?",
    f"[a]\n{ADDRESS}\nsecret_env = '{WRITTEN}'\n{WANTS}": (
        "a.secret_env: must be the name of an environment variable, in capitals, digits and _"
    ),
    f"[a]\n{ADDRESS}\nsecret_env = 'NOBODY'\n{WANTS}": (
        "a.secret_env='NOBODY': must be an environment variable that is set"
    ),
    f"[a]\n{ADDRESS}\nsecret_env = 'EMPTY'\n{WANTS}": (
        "a.secret_env='EMPTY': must be an environment variable that is set"
    ),
    f"[a]\n{ADDRESS}\nsecret_env = 'SHORT'\n{WANTS}": (
        "a.secret_env='SHORT': the variable must hold whsec_ and 24 to 64 bytes in base64"
    ),
    f"[a]\n{ADDRESS}\nsecret_env = 'FINANCE'": (
        "a: must have campaigns or accounts, such as campaigns = ['*']"
    ),
    f"[a]\n{ADDRESS}\nsecret_env = 'FINANCE'\ncampaigns = 'x'": (
        "a.campaigns='x': must be a list of patterns, such as ['search-*']"
    ),
    f"[a]\n{ADDRESS}\nsecret_env = 'FINANCE'\naccounts = [1]": (
        "a.accounts=[1]: must be a list of patterns, such as ['search-*']"
    ),
    f"[a]\n{ADDRESS}\nformat = 'teams'": "a.format='teams': must be standard or slack",
    f"[a]\n{ADDRESS}\nformat = ['slack']": "a.format=['slack']: must be standard or slack",
    f"[a]\nformat = 'slack'\n{ADDRESS}\n{WANTS}": (
        "a: must have address_env and no secret_env, since the address for slack is a secret"
    ),
    f"[a]\n{ADDRESS}\nsecret_env = 'FINANCE'\n{WANTS}\nallow_private = 1": (
        "a.allow_private=1: must be true or false"
    ),
    f"[a]\naddress = 7\nsecret_env = 'FINANCE'\n{WANTS}": "a.address=7: must be text",
    f"[a]\naddress = 'https://x@sesame/'\nsecret_env = 'FINANCE'\n{WANTS}": (
        "a.address: must look like https://HOST/PATH, in at most 2,000 characters of ASCII, "
        "without a user, a password or a fragment"
    ),
    f"[a]\naddress_env = 'HERE'\nsecret_env = 'FINANCE'\n{WANTS}": (
        "a.address_env='HERE': the variable must be https and on the public internet, or "
        "allow_private must be true"
    ),
    f"[a]\naddress = 'https://169.254.169.254/sesame'\nsecret_env = 'FINANCE'\n{WANTS}": (
        "a.address: must be https and on the public internet, or allow_private must be true"
    ),
}


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_file_is_refused_in_one_line(file: Path, text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read(file, text)
    assert str(caught.value) == f"{file}: {WRONG[text]}"
    assert "sesame" not in str(caught.value)


def test_a_file_that_cannot_be_read(file: Path) -> None:
    with pytest.raises(InvalidInput, match=r"cannot read .*: No such file or directory"):
        read_file(file)
    with pytest.raises(InvalidInput, match=r"webhooks.toml: Invalid value \(at line 1"):
        read(file, "a = sesame")
    file.write_bytes(b"\xff")
    with pytest.raises(InvalidInput, match="it is not text in UTF-8"):
        read_file(file)
    many: Any = "".join(f"[r{number}]\n" for number in range(101))
    with pytest.raises(InvalidInput, match="receivers=101: must be 1 to 100 tables"):
        read(file, many)
