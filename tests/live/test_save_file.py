import gc
import os
import pickle
import resource
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from purse import AskRefused, InvalidInput, Policy, PurseError
from purse.base import array_file
from purse.errors import HorizonReached
from purse.lab import Ticket
from purse.live import save_file
from tests.live import test_policy
from tests.live.test_policy import standing
from tests.support.paths import EPSILON_GREEDY

MARK = "from pathlib import Path\n(Path(__file__).parent / 'was-run').touch()\n"


def make(policy: str = "exp3++.bwk", **changes: Any) -> Policy:
    return test_policy.make(policy, **{"n_arms": 4, "budget": 8, "seed": 5, **changes})


def answer(policy: Policy, ticket: Ticket) -> bool:
    return policy.tell(
        ticket,
        reward=(3 * ticket.t + 5 * ticket.arm) % 11 / 10,
        cost=((5 * ticket.t + ticket.arm) % 10 + 1) / 10,
    )


def play(policy: Policy, rounds: int) -> None:
    """Ask and tell, and leave every fourth ticket out."""
    for _ in range(rounds):
        ticket = policy.ask()
        if ticket.id % 4:
            answer(policy, ticket)


def rest_of_game(policy: Policy) -> list[Any]:
    """Everything that can be seen from here to the end, late reports included."""
    seen: list[Any] = [standing(policy)]
    for ticket in policy.tickets[::2]:
        seen.append(answer(policy, ticket))
    while True:
        try:
            ticket = policy.ask()
        except AskRefused as error:
            seen.append((type(error), str(error)))
            break
        seen += [ticket, answer(policy, ticket), standing(policy)]
    for ticket in policy.tickets:
        policy.void(ticket)
    return [*seen, standing(policy)]


def saved_and_loaded(policy: Policy, folder: Path) -> Policy:
    policy.save(folder / "policy.npz")
    return Policy.load(folder / "policy.npz")


def refused(path: Path) -> str:
    """The short line that refuses a file, which is closed afterwards."""
    # what is there already is not looked through: compiled policies are a million objects
    gc.freeze()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with pytest.raises(InvalidInput) as caught:
            Policy.load(path)
        message = str(caught.value)
        del caught
        gc.collect()
    gc.unfreeze()
    assert [str(warning.message) for warning in seen] == []
    assert path.name in message
    assert "\n" not in message
    assert len(message) < 1000
    return message


@contextmanager
def disk_full(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


# a saved policy continues; `test_machine.py` saves and loads between any two calls


@pytest.mark.parametrize(("name", "stop"), [("ucb-bv1", "exit"), ("exp3++.bwk", "retry")])
def test_a_loaded_policy_continues_to_the_same_bits(name: str, stop: str, tmp_path: Path) -> None:
    policy = make(name, stop=stop)
    play(policy, 9)
    loaded = saved_and_loaded(policy, tmp_path)
    assert standing(loaded) == standing(policy)
    assert rest_of_game(loaded) == rest_of_game(policy)


@pytest.mark.parametrize("seed", [0, 7.0, np.int64(7), 2**63 - 1], ids=repr)
def test_any_seed_that_plays_can_be_saved(seed: Any, tmp_path: Path) -> None:
    policy = make("uniform", seed=seed)
    play(policy, 3)
    assert rest_of_game(saved_and_loaded(policy, tmp_path)) == rest_of_game(policy)


def test_options_and_the_whole_problem_survive(tmp_path: Path) -> None:
    policy = Policy(
        "fixed:arm=2",
        n_arms=3,
        budget=["9.000000001", 20],
        cost_min=[0.1, 0.2, 0.3],
        cost_max=[1, 2, 3],
        n_resources=2,
        plays=2,
        horizon=2,
        seed=9,
    )
    policy.ask()
    loaded = saved_and_loaded(policy, tmp_path)
    assert loaded.left_units == [9_000_000_001 - 4 * 10**9, 16 * 10**9]
    assert loaded.ask().arms == (2, 0)
    with pytest.raises(HorizonReached):
        loaded.ask()


# the file


def test_saving_again_replaces_the_file_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    policy = make()
    for _ in range(3):
        play(policy, 2)
        before = standing(policy)
        policy.save(str(tmp_path / "mine"))  # a path may be text, and needs no ending
        assert standing(Policy.load(str(tmp_path / "mine"))) == standing(policy) == before
    assert os.listdir(tmp_path) == ["mine"]


def test_the_same_policy_gives_the_same_file_without_a_pickle(tmp_path: Path) -> None:
    policy = make()
    play(policy, 9)
    saved_and_loaded(policy, tmp_path).save(tmp_path / "again.npz")
    contents = []
    for name in ("policy.npz", "again.npz"):
        with np.load(tmp_path / name, allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
        assert {array.dtype.kind for array in arrays.values()} <= set("fiuUb")
        contents.append({k: (a.dtype, a.shape, a.tobytes()) for k, a in arrays.items()})
    assert contents[0] == contents[1]


@pytest.mark.parametrize("size", [0, 100, 2000])
def test_a_save_that_fails_halfway_leaves_the_old_file_and_nothing_else(
    size: int, tmp_path: Path
) -> None:
    policy, path = make(), tmp_path / "policy.npz"
    policy.save(path)
    old = path.read_bytes()
    play(policy, 5)
    before = standing(policy)
    with disk_full(size), pytest.raises(PurseError, match=r"^.*policy\.npz.*$"):
        policy.save(path)
    assert os.listdir(tmp_path) == ["policy.npz"]
    assert path.read_bytes() == old
    assert standing(policy) == before


@pytest.mark.parametrize("where", ["missing/policy.npz", "file/policy.npz", "folder"])
def test_a_path_that_cannot_be_written_is_a_purse_error(where: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    with pytest.raises(PurseError) as caught:
        make().save(tmp_path / where)
    assert where in str(caught.value)
    assert "\n" not in str(caught.value)
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]


# what is refused


def saved(path: Path, policy: str = "uniform", change: Any = None, **changes: Any) -> Path:
    """A saved policy of two open tickets, some of whose facts are changed."""
    live = make(policy)
    for _ in range(2):
        live.ask()
    live.save(path)
    facts, arrays = save_file.load(path)
    facts = change(facts) if change else {**facts, **changes}
    array_file.write_arrays(path, facts, arrays)
    return path


FAKES: dict[str, Callable[[Path], object]] = {
    "missing": lambda path: None,
    "folder": lambda path: path.mkdir(),
    "text": lambda path: path.write_text("dear diary\nall is well\n"),
    "empty": lambda path: path.write_bytes(b""),
    "pickle": lambda path: path.write_bytes(pickle.dumps({"format": 1})),
    "other arrays": lambda path: np.savez(path, weights=np.zeros(3)),
    "other zip": lambda path: zipfile.ZipFile(path, "w").close(),
    "facts that are a list": lambda path: saved(path, change=lambda facts: [facts]),
    "facts that lack everything": lambda path: saved(path, change=lambda facts: {"format": 5}),
    "facts that are nested too deeply": lambda path: np.savez(path, facts=np.array("[" * 100_000)),
}


@pytest.mark.parametrize("kind", FAKES)
def test_a_file_that_is_no_snapshot_is_refused_by_name(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "fake.npz"
    FAKES[kind](path)
    refused(path)


def test_another_format_version_is_told_which_one_can_be_read(tmp_path: Path) -> None:
    assert refused(saved(tmp_path / "policy.npz", format=999)).endswith(
        "has format 999; this version of purse reads format 5"
    )


@pytest.mark.parametrize("part", [0.01, 0.3, 0.6, 0.99])
def test_a_truncated_file_is_refused_by_name_and_closed(part: float, tmp_path: Path) -> None:
    path = tmp_path / "policy.npz"
    make().save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(part * len(whole))])
    refused(path)


def test_a_policy_file_is_run_only_where_that_is_allowed(tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(EPSILON_GREEDY.read_text())
    path = saved(tmp_path / "policy.npz", str(mine))
    mine.write_text(mine.read_text() + MARK)
    said = refused(path)
    assert "mine.py" in said
    assert "allow_policy_file=True" in said
    assert not (tmp_path / "was-run").exists()
    assert Policy.load(path, allow_policy_file=True).ask().id == 3
    assert (tmp_path / "was-run").exists()


@pytest.mark.parametrize("left", [[10**18], [-1], [8 * 10**9], [1.5e300], ["much"], [], None])
def test_what_is_left_has_to_be_a_part_of_the_budget(left: Any, tmp_path: Path) -> None:
    refused(saved(tmp_path / "policy.npz", left=left))


def test_what_is_left_may_be_nothing(tmp_path: Path) -> None:
    loaded = Policy.load(saved(tmp_path / "policy.npz", left=[0]))
    assert (loaded.left, loaded.spent, loaded.held) == (0, 6, 2)


TICKETS = [[9], [0.5], [1]], [[0], [0.5], [-1]], [["x"], [0.5], [1]], [[-1], [0.5], [1]]
SIZES = [[0, 1], [0.5], [1]], [[0], [], [1]], [[0], [0.5], [1, 1]]
ROUNDS = [[9], [0.5], []], [[-7], [0.5], []], [[0, 1], [0.5], []], [[0], [0.5], [4]]
MASKS = [[], 1], [[4], 1], [[-1], 1], [["x"], 1], [[0.5], 1], [[0], 0], [[0], 4]


@pytest.mark.parametrize(
    ("fact", "values"),
    [
        ("problem", [None, []]),
        ("name", [1, None]),
        ("t", ["many", -1]),
        ("gain", ["much"]),
        ("over", [1]),
        ("_next_id", [0]),
        ("seed", [[]]),
        ("stop", ["never"]),
        ("owed", [[1] * 99, {}]),
        ("initial", [5, [[]]]),
        ("tickets", [7, [[1]], *([[[1, 1, *ticket], None]] for ticket in (*TICKETS, *SIZES))]),
        ("again", [[1], *([[1, *again, 0, False]] for again in ROUNDS)]),
        ("masks", [7, [[1]], [[[0], 1], [[1], 1], [[2], 2]], *([mask] for mask in MASKS)]),
    ],
)
def test_facts_that_cannot_be_are_one_line(fact: str, values: list[Any], tmp_path: Path) -> None:
    for value in values:
        refused(saved(tmp_path / "policy.npz", **{fact: value}))


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("n_arms", [10**15, 3, "four"]),
        ("plays", [10**15, 0]),
        ("horizon", ["long"]),
        ("budget", [5, [10**30], [0.5]]),
        ("cost_min", [[[1]]]),
        ("cost_max", ["dear"]),
        ("caps", [[1]]),
        ("reward_means", [[0.5]]),
        ("colour", ["red"]),
    ],
)
def test_a_problem_that_cannot_be_is_one_line(
    field: str, values: list[Any], tmp_path: Path
) -> None:
    for value in values:

        def change(facts: dict[str, Any], value: Any = value) -> Any:
            return {**facts, "problem": {**facts["problem"], field: value}}

        refused(saved(tmp_path / "policy.npz", change=change))


def test_a_file_that_is_packed_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "policy.npz"
    np.savez_compressed(path, facts=np.array("{}"), zeros=np.zeros(10**6))
    assert path.stat().st_size < 20_000
    monkeypatch.setattr(array_file, "_read_part", None)
    assert "would unpack to more than it holds" in refused(path)


def test_an_array_that_says_it_is_larger_than_it_is_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "policy.npz"
    for shape in ("(99999999999999,)", "(-1,)", "(1.5,)", "(2,) "):
        header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117)
        body = b"\x93NUMPY\x01\x00\x76\x00" + header.encode() + b"\n" + bytes(8)
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("facts.npy", body)
        assert "is not a saved policy" in refused(path)


def test_every_damaged_byte_is_refused_or_harmless(tmp_path: Path) -> None:
    path = saved(tmp_path / "policy.npz")
    whole, before = path.read_bytes(), standing(Policy.load(path))
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x41]) + whole[place + 1 :])
        try:
            assert standing(Policy.load(path)) == before, place
        except InvalidInput as error:
            assert "\n" not in str(error)  # noqa: PT017 - either is right
