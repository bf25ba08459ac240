from pathlib import Path

import pytest

import purse
from purse.compiler.error_text import explain
from purse.errors import PurseError
from tests.support.paths import EPSILON_GREEDY

ALLOCATES = r"a kernel makes an array, a list or a dict, and kernels never allocate"
WORLD = "bernoulli:rewards=[.5,.5],costs=[.5,.5]"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("int(np.zeros(1)[0]) - 1", ALLOCATES),
        ("[-1][0]", ALLOCATES),
        ("{1: -1}\n    best[2] = 1", ALLOCATES),
        ("nothing", "NameError: name 'nothing' is not defined"),
        ("now.round", "Now has no field 'round'"),
    ],
)
def test_a_policy_that_does_not_compile_names_its_line(
    value: str, message: str, tmp_path: Path
) -> None:
    path, source = tmp_path / "mine.py", EPSILON_GREEDY.read_text()
    line, instead = "    best = -1\n", f"    best = {value}\n"
    path.write_text(source.replace(line, instead, 1))
    number = source[: source.index(line)].count("\n") + 1
    with pytest.raises(PurseError) as caught:
        purse.simulate(str(path), WORLD, 10, n_paths=1)
    text = str(caught.value)
    first, second, *_ = [*instead.splitlines(), ""]
    places = [(number, first), (number + 1, second)]
    assert any(
        f"mine.py does not compile: line {n}, `{code.strip()}`: " in text for n, code in places
    )
    assert message in text
    assert "\n" not in text


def test_a_helper_without_the_decorator_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(EPSILON_GREEDY.read_text().replace("@kernel\ndef best_arm", "def best_arm"))
    with pytest.raises(
        PurseError, match=r"`best = best_arm\(state, now\)`: best_arm lacks @kernel$"
    ):
        purse.simulate(str(path), WORLD, 10, n_paths=1)


def test_the_colours_of_a_terminal_are_left_out() -> None:
    message = (
        "\x1b[1m\x1b[1mFailed in nopython mode\n\x1b[0m\x1b[1mNo such \x1b[34m\x1b[1mthing\x1b[0m\n"
    )
    assert explain(message, None) == "No such thing"


def test_what_is_not_known_is_shown_with_types_and_the_place_that_there_is() -> None:
    message = (
        "Failed in nopython mode pipeline (step: nopython frontend)\n"
        "No implementation of function Function(<built-in function mul>) found for signature:\n"
        " >>> mul(unicode_type, int64)\n"
        "During: typing of call at /there/numba/core/x.py (7)\n"
        "During: typing of call at /here/steps.py (12)\n"
    )
    assert explain(message, None) == (
        "steps.py, line 12: No implementation of function Function(<built-in function mul>) found "
        "for signature: mul(unicode_type, int64)"
    )
    assert explain("", None) == "no reason given"
