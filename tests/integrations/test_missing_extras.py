from __future__ import annotations

import subprocess
import sys

CODE = """
import importlib, sys
for module, package, extra in [line.split() for line in sys.argv[1:]]:
    sys.modules[package] = None  # as where it is not installed
    try:
        importlib.import_module(f"purse.integrations.{module}")
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
"""


def test_without_the_package_one_line_names_the_extra() -> None:
    words = ["litellm litellm litellm", "pydantic_ai pydantic_ai pydantic-ai"]
    done = subprocess.run(
        [sys.executable, "-c", CODE, *words], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        "MissingExtra: purse.integrations.litellm needs litellm: "
        "pip install 'purse-bandits[litellm]'",
        "MissingExtra: purse.integrations.pydantic_ai needs pydantic_ai: "
        "pip install 'purse-bandits[pydantic-ai]'",
    ]
