"""Where things are that tests read."""

from pathlib import Path

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
EXAMPLES = ROOT / "examples"
EPSILON_GREEDY = EXAMPLES / "epsilon_greedy.py"
SCRIPTED = str(TESTS / "engine" / "policies_for_tests" / "scripted.py")
LEAST_PENDING = str(TESTS / "engine" / "policies_for_tests" / "least_pending.py")
MASKS_SEEN = str(TESTS / "engine" / "policies_for_tests" / "masks_seen.py")
FRUGAL = str(TESTS / "engine" / "policies_for_tests" / "frugal.py")
