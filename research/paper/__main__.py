"""`python -m research.paper`: study every claim of the paper, and write its page."""

import sys
from typing import Any

import click

from purse.cli import execute
from purse.cli.options import device_option, json_option, out_option, workers_option
from purse.cli.output import print_json
from research.commands import quick_option
from research.paper import study


@click.command()
@out_option("Folder for the page and its data.", "purse-results/paper")
@quick_option
@workers_option
@device_option
@json_option
def paper(folder: str, as_json: bool, **options: Any) -> None:
    """Study every claim of the paper, and write the page that says which are true.

    Runs Theorems 1 to 5, the equations that they need, and what holds instead. Prints the
    verdicts, and writes paper.html (one file), paper.md, own-results.md and pictures. The same
    command continues an interrupted run.
    """
    report = study(folder, **options)
    if as_json:
        verdicts = {
            title: {"verdict": claim.verdict, "measured": claim.measured, "agrees": claim.agrees}
            for title, claim in report.findings.items()
        }
        files = {"page": str(report.page), "files": [str(path) for path in report.files]}
        print_json({**files, "agrees": report.agrees, "claims": verdicts})
    else:
        for title, claim in report.findings.items():
            doubt = "" if claim.agrees else "\n    THIS RUN DOES NOT SHOW IT"
            click.echo(f"{title}: {claim.verdict}\n    {claim.measured}{doubt}")
        click.echo(f"\nWritten to {report.page}")
    sys.exit(0 if report.agrees else 1)


if __name__ == "__main__":
    execute(paper, "python -m research.paper")
