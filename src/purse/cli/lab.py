"""The group of verbs for simulated worlds: `lab`."""

import click

from purse.cli import catalog, simulate, study, theory
from purse.cli.groups import Sections


@click.group(cls=Sections)
def lab() -> None:
    """Simulate, run studies in files, and look at theory.

    \b
    purse lab simulate exp3.bwk -w misleading_ratio -b 1e4
    purse lab regret exp3.bwk -w two_worlds -b 1e4
    purse lab init; purse lab run study.toml   a study in a file: resumable
    purse lab bounds --arms 10 --budget 1e4 --cost-min .1
    """  # noqa: D301 - click reads the backspace as: keep these lines


lab.add_sections(
    {
        "Judge policies": [simulate.simulate, simulate.regret],
        "Studies in files": [study.init, study.run, study.status, study.show, study.report],
        "Theory": [theory.bounds, theory.optimum],
        "Look up": [catalog.worlds],
    }
)
