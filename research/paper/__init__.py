"""The study of every claim of the paper, and the pages that say what is true."""

import os
from pathlib import Path
from typing import NamedTuple

from purse.base import validation
from purse.base.files import make_folder, write_text
from purse.base.optional import check_lab
from purse.base.progress import progress
from purse.lab.study.store import Store
from purse.types import CPU, DEVICES
from research.paper.claims import CLAIMS
from research.paper.finding import Finding
from research.paper.page import html, markdown, parts, pictures
from research.paper.runner import Runner

PICTURES = "pictures"


class PaperReport(NamedTuple):
    """The findings of a study, and the files of its page."""

    page: Path  # HTML, in one file
    files: list[Path]  # all that was written
    findings: dict[str, Finding]  # by the title of the claim

    @property
    def agrees(self) -> bool:
        """Whether this run shows what every verdict says."""
        return all(finding.agrees for finding in self.findings.values())


def study(
    folder: str | os.PathLike[str] = "purse-results/paper",
    *,
    quick: bool = False,
    n_workers: int | None = None,
    device: str = CPU,
) -> PaperReport:
    """Measure every claim and write the pages: paper.html in one file, and paper.md and
    own-results.md with their pictures.

    folder      keeps finished parts, too, so that an interrupted study continues
    quick       take small budgets and few paths
    n_workers   threads; their number changes no result
    device      "cpu", "cuda" for an NVIDIA GPU, or "python"; it changes no number
    """
    check_lab("the study of the paper")
    validation.choice("device", device, DEVICES)
    target = make_folder(Path(folder))
    with progress("the paper") as bar:
        runner = Runner(Store(target), bar, n_workers, quick, device)
        results = []
        for number, claim in enumerate(CLAIMS):
            runner.begin(number / len(CLAIMS), claim.title)
            finding = claim.study(runner)
            results.append((claim, finding._replace(agrees=bool(finding.agrees))))
    drawings = pictures(results)
    text = markdown(results, PICTURES, quick)
    contents = {target / "paper.html": html(text, drawings, PICTURES)}
    contents |= {target / name: part for name, part in parts(results, PICTURES, quick).items()}
    make_folder(target / PICTURES)
    contents |= {target / PICTURES / f"{name}.svg": svg for name, svg in drawings.items()}
    for path, content in contents.items():
        write_text(path, content)
    return PaperReport(
        target / "paper.html", list(contents), {claim.title: finding for claim, finding in results}
    )
