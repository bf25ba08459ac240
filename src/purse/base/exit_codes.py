"""Exit codes of the command line, by which a script tells a spent budget from a mistake.

A code stays what it is: scripts depend on it.
"""

from typing import Final

OK: Final = 0
DIFFERS: Final = 1
MISTAKE: Final = 2
OVER: Final = 3
HELD: Final = 4
UNAVAILABLE: Final = 5
COOLING: Final = 6
PAUSED: Final = 7
UNSURE: Final = 8
INTERRUPTED: Final = 130  # as a shell says of SIGINT
BROKEN_PIPE: Final = 141  # as a shell says of SIGPIPE

MEANINGS: Final = {
    OK: "done",
    DIFFERS: "an audit or a check found a difference",
    MISTAKE: "a mistake in the command or in its input, or another error",
    OVER: "the game is over: budget spent, horizon reached or campaign ended",
    HELD: "money is held for open tickets; ask again after they are told",
    UNAVAILABLE: "the storage does not answer; the same command again does no harm",
    COOLING: "calls of all allowed arms failed just now; ask again soon",
    PAUSED: "the campaign is paused",
    UNSURE: "the best arm is not certain yet; ask again after more reports",
    INTERRUPTED: "interrupted by Ctrl-C",
}
