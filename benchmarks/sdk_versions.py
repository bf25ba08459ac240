"""The transport with the SDKs' present majors, and with the ones before, in `make soak`.

Each has an environment of its own in `.venv`, which is kept for the next time; `make clean` removes
it. One line each says what was found.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOOLS = ("pytest>=8.0,<9.2", "httpx2>=2.16")
VERSIONS = {
    "newest": ("openai>=3", "anthropic>=2", "langchain-openai", "pydantic-ai-slim>=2.66"),
    "before": ("openai>=2,<3", "anthropic>=1,<2", "langchain-openai", "pydantic-ai-slim>=2.66"),
}
SHOWN = """
from importlib.metadata import version
names = ("openai", "anthropic", "langchain-openai", "pydantic-ai-slim", "httpx2")
print(*(f"{name} {version(name)}" for name in names), sep=", ")
"""


def check(which: str) -> bool:
    """Run the transport's tests with some versions, print one line and say whether all passed."""
    folder = ROOT / ".venv" / f"sdk-{which}"
    python = str(folder / "bin" / "python")
    if not Path(python).exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    install = ["-m", "pip", "install", "--quiet", "--upgrade", "--no-compile", "--editable"]
    wanted = [f"{ROOT}[prices,serve]", *TOOLS, *VERSIONS[which]]
    subprocess.run([python, *install, *wanted], check=True, cwd=ROOT)
    shown = subprocess.run([python, "-c", SHOWN], check=True, capture_output=True, text=True)
    tests = "tests/integrations/transport"
    options = ["-q", "-p", "no:cacheprovider", f"--confcutdir={tests}", "-o", "filterwarnings="]
    done = subprocess.run(
        [python, "-m", "pytest", *options, tests],
        env={**os.environ, "NUMBA_OPT": "1"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        print(done.stdout[-5000:], done.stderr[-2000:], sep="\n")
    verdict = "FAILED" if done.returncode else "ok"
    summary = (done.stdout.strip().splitlines() or ["no output"])[-1].strip("= ")
    print(f"{which}: {shown.stdout.strip()}: {verdict}, {summary}", flush=True)
    return done.returncode == 0


if __name__ == "__main__":
    results = [check(which) for which in sys.argv[1:] or VERSIONS]
    sys.exit(not all(results))
