import sys

import pytest

from purse.base.optional import check_lab, is_installed, needs
from purse.errors import MissingExtra


@pytest.mark.parametrize(
    ("extra", "error", "said"),
    [
        ("lab", ModuleNotFoundError(name="polars"), "polars: pip install 'purse-bandits[lab]'"),
        ("gpu", ModuleNotFoundError(name="numba.x"), "numba: pip install 'purse-bandits[gpu]'"),
        ("gpu", ImportError("halted"), "the extra gpu: pip install 'purse-bandits[gpu]'"),
        ("", ModuleNotFoundError(name="apsw"), "apsw: pip install purse-bandits"),
    ],
)
def test_one_line_has_the_words_for_pip(extra: str, error: ImportError, said: str) -> None:
    with pytest.raises(MissingExtra) as caught, needs("a study", extra):
        raise error
    assert str(caught.value) == f"a study needs {said}"


@pytest.mark.parametrize(
    ("extra", "error"),
    [("lab", ModuleNotFoundError(name="purse.none")), ("", ImportError("a library is damaged"))],
)
def test_what_no_package_mends_is_raised_as_it_is(extra: str, error: ImportError) -> None:
    with pytest.raises(ImportError) as caught, needs("a study", extra):
        raise error
    assert caught.value is error


def test_the_lab_is_checked_package_by_package(monkeypatch: pytest.MonkeyPatch) -> None:
    check_lab("a study")
    is_installed.cache_clear()
    monkeypatch.setitem(sys.modules, "polars", None)
    try:
        check_lab("a study", "numba")
        with pytest.raises(MissingExtra, match=r"^a study needs polars: pip install "):
            check_lab("a study")
    finally:
        is_installed.cache_clear()
