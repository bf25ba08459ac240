from __future__ import annotations

import html
import json
import re
import shlex
import shutil
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from click.testing import CliRunner

from purse import cli
from purse.lab import paper
from purse.lab.paper import guarantees, page
from purse.lab.paper.claims import claims, delta_binds, mixing
from purse.lab.paper.finding import Finding, Picture, Table
from purse.lab.paper.notation import NOTATION
from purse.lab.report.charts.export import render_svg
from purse.lab.report.charts.lines import Curve
from purse.lab.theory.estimate import Estimate
from tests.support.charts import checked_spec
from tests.support.soak import SOAK

ROOT = Path(__file__).parents[3]
COMMITTED = ROOT / "docs" / "theory" / "paper.md"
PICTURES = [path.stem for path in (COMMITTED.parent / "pictures").glob("*.svg")]
# claims that are quick to draw and to sum up; in make soak all are studied a second time
AGAIN = ("Theorem 1", "The class G", "Theorem 4", "Proposition A", "Proposition B")
Studied = tuple[Path, paper.PaperReport]


def test_every_claim_is_there_in_order_with_all_its_parts() -> None:
    modules = claims()
    assert [module.TITLE for module in modules][:6] == [
        "Equation (3)",
        "Equation (4)",
        "Equation (5)",
        "Equation (9)",
        "Equation (8)",
        "Theorem 1",
    ]
    assert {f"Theorem {number}" for number in range(1, 6)} | {
        f"Proposition {letter}" for letter in "ABC"
    } <= {module.TITLE for module in modules}
    assert len({module.ORDER for module in modules}) == len(modules)
    assert all(
        module.SAYS.endswith(".") and module.COMMANDS and module.__doc__ for module in modules
    )


def test_a_quick_study_agrees_with_every_verdict(study: Studied) -> None:
    assert [title for title, finding in study[1].findings.items() if not finding.agrees] == []
    assert study[1].agrees


@pytest.mark.parametrize("number", range(1, 7))
def test_an_inequality_of_ours_is_held_against_eight_worlds_and_three_budgets(
    study: Studied, number: int
) -> None:
    (found,) = (
        finding for title, finding in study[1].findings.items() if title.startswith(f"T{number}, ")
    )
    tables = [block for block in found.blocks if isinstance(block, Table)]
    assert tables
    for each in tables:
        assert len(each.rows) >= 8
        assert len(each.head) == 4
        assert all(np.isfinite(float(cell)) for row in each.rows for cell in row[1:])


def test_a_violation_is_a_mean_beyond_its_bound_by_more_than_four_errors() -> None:
    def measure(place: object, budget: float) -> tuple[Estimate, float]:
        return Estimate(float(str(place)), 1.0, 0.0, 0.0), budget

    places = [("a", "9"), ("b", "13.5"), ("c", "14.5")]
    found = guarantees.hold_against(places, [10.0], measure)
    assert (found.violations, found.n_worlds) == (1, 3)
    assert (found.smallest, found.largest) == (0.9, 1.45)
    assert guarantees.hold_against(places, [18.0], measure, at_least=True).violations == 2


def test_the_page_holds_everything_in_one_file(study: Studied) -> None:
    text = study[1].page.read_text()
    assert re.findall(r'(?:src|href)="(?!#)[^"]*"', text) == []
    assert text.count("<svg") == sum(
        isinstance(block, Picture) for found in study[1].findings.values() for block in found.blocks
    )
    targets = set(re.findall(r'id="([^"]+)"', text))
    assert {
        html.unescape(link)
        for link in re.findall(r'href="#([^"]+)"', text)
        if not link.startswith("m")
    } <= targets
    assert "A quick look" in text


def words(source: str) -> str:
    """The letters and signs of a claim's text that a reader must see, without spaces: subscripts,
    superscripts, links, code, bold and italic words lose their marks.
    """
    text = re.sub(r"\[([^\]]*)\]\(#[^)]*\)", r"\1", source)
    text = re.sub(r"(?m)^\d+\. ", "", text)  # a list has its numbers from the browser
    text = re.sub(r"(?<!\w)\*(\w[^*]*\w)\*(?!\w)", r"\1", text.replace("**", ""))
    parts = re.split(r"`([^`]*)`", text)
    parts[::2] = (
        re.sub(r"\^|_(?=\w\b)", "", re.sub(r"_\{([^}]*)\}", r"\1", part)) for part in parts[::2]
    )
    return re.sub(r"\s", "", "".join(parts))


def shown(page_html: str) -> str:
    """The text of a page as a reader sees it, without spaces."""
    return re.sub(r"\s", "", html.unescape(re.sub(r"</?[a-z][^>]*>", "", page_html)))


def sources(claim: ModuleType, finding: Finding) -> list[str]:
    """All texts of a claim's section."""
    texts = [claim.TITLE, claim.SAYS, page.capital(finding.verdict), finding.measured]
    for block in finding.blocks:
        if isinstance(block, Table):
            texts += [*block.head, *(cell for row in block.rows for cell in row)]
        else:
            texts.append(block.caption if isinstance(block, Picture) else block)
    return texts


def test_the_page_shows_every_sign_of_the_formulas(study: Studied) -> None:
    text = shown(study[1].page.read_text())
    texts = [*(part for pair in NOTATION.items() for part in pair)]
    for claim in claims():
        texts += sources(claim, study[1].findings[claim.TITLE])
    assert sum("e*" in each or "i*" in each for each in texts) > 15
    # tables drop the sign of nothing
    assert [each for each in texts if each != "-0.000" and words(each) not in text] == []


def test_the_committed_page_shows_every_sign_of_the_formulas() -> None:
    text = shown(page.html(COMMITTED.read_text(), dict.fromkeys(PICTURES, "<svg/>"), "pictures"))
    texts = [*(part for pair in NOTATION.items() for part in pair)]
    texts += [claim.SAYS for claim in claims()]
    assert [each for each in texts if words(each) not in text] == []
    # what the claims say beside their numbers
    for formula in ("e*B≤Σe*ρ(i)ENσ(i)", "roundsofi*aloneandthoseof", "Στ<t≤T(i*)et(i*)"):
        assert formula in text


def test_the_markdown_links_to_pictures_that_are_there(study: Studied) -> None:
    folder, _ = study
    links = re.findall(r"\]\((pictures/[^)]+)\)", (folder / "paper.md").read_text())
    assert links
    assert all((folder / link).read_text().startswith("<svg") for link in links)


def test_a_second_study_computes_nothing_and_writes_the_same(
    study: Studied, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = study
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    again = [claim for claim in claims() if SOAK or claim.TITLE in AGAIN]

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr("purse.lab.study.executors.play_shard", refuse)
    monkeypatch.setattr("purse.engine.counterfactual.counterfactual_sums", refuse)
    monkeypatch.setattr(paper, "claims", lambda: again)
    _, text, *drawn = paper.study(tmp_path, quick=True).files
    _, _, *sections = text.read_text().split("\n## ")
    assert len(sections) == 1 + len(again)
    assert set(sections) <= set((folder / text.name).read_text().split("\n## "))
    assert drawn
    for path in drawn:
        assert path.read_bytes() == (folder / path.relative_to(tmp_path)).read_bytes()


def test_an_interrupted_study_continues_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from purse.lab.study import executors, shard

    only = [claim for claim in claims() if claim.TITLE in ("The class G", "Proposition B")]
    monkeypatch.setattr(paper, "claims", lambda: only)
    real, played = shard.play_shard, []

    def interrupted(part, *args):  # type: ignore[no-untyped-def]
        played.append(part.job.name)
        if len(played) == 20:
            raise KeyboardInterrupt
        return real(part, *args)

    monkeypatch.setattr(executors, "play_shard", interrupted)
    with pytest.raises(KeyboardInterrupt):
        paper.study(tmp_path, quick=True)
    assert not (tmp_path / "paper.html").exists()
    assert paper.study(tmp_path, quick=True).agrees
    alone = len(list((tmp_path / "shards").glob("*.parquet")))
    assert len(played) - 1 <= alone


def test_the_committed_page_is_of_these_claims() -> None:
    text = COMMITTED.read_text()
    assert "--quick" not in text
    assert "does not show it" not in text
    for claim in claims():
        assert f"## {claim.TITLE}\n\n*The claim.* {page.typeset(claim.SAYS)}\n" in text, (
            f"{claim.TITLE} has changed: run `make paper`"
        )
        for command in claim.COMMANDS:
            assert f"    {command}\n" in text, f"{claim.TITLE} has changed: run `make paper`"
    assert sorted(COMMITTED.parent.glob("pictures/*.svg")) == sorted(
        COMMITTED.parent / link for link in set(re.findall(r"\]\((pictures/[^)]+)\)", text))
    )


@pytest.mark.parametrize(
    "command",
    [command for claim in claims() for command in claim.COMMANDS if command.startswith("purse")],
)
def test_the_commands_on_the_page_run(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # drawing takes longer than all the rest
    monkeypatch.setattr(
        "purse.lab.study.results.Study.publish", lambda study, folder: [folder / "report.html"]
    )
    words = shlex.split(command)[1:]
    if {"compare", "regret", "simulate"} & set(
        words[:2]
    ):  # the same, with a small budget and few paths
        words = [
            word
            for word, before in zip(words, ["", *words], strict=False)
            if "-b" not in (word, before) and "-n" not in (word, before)
        ]
        words += ["-b", "1e3", "-n", "2"]
    result = CliRunner().invoke(cli.cli, words)
    assert result.exit_code == 0, result.output
    assert result.output


def test_the_command_prints_the_verdicts_and_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        paper,
        "claims",
        lambda: [claim for claim in claims() if claim.TITLE in ("Equation (3)", "The class G")],
    )
    plain = CliRunner().invoke(cli.cli, ["lab", "paper", "--quick", "-o", str(tmp_path)])
    assert plain.exit_code == 0
    assert plain.stdout.startswith(
        "Equation (3): true, and sharper: max_i r(i) is enough\n    500 random instances"
    )
    assert plain.stdout.endswith(f"Written to {tmp_path / 'paper.html'}\n")
    machine = CliRunner().invoke(
        cli.cli, ["lab", "paper", "--quick", "-o", str(tmp_path), "--json"]
    )
    assert json.loads(machine.stdout)["claims"]["The class G"]["agrees"] is True


def test_a_run_that_does_not_show_a_verdict_says_so_and_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = next(claim for claim in claims() if claim.TITLE == "Equation (3)")
    monkeypatch.setattr(claim, "study", lambda runner: Finding("true", "nothing", False, ["Text."]))
    monkeypatch.setattr(paper, "claims", lambda: [claim])
    result = CliRunner().invoke(cli.cli, ["lab", "paper", "-o", str(tmp_path)])
    assert result.exit_code == 1
    assert "THIS RUN DOES NOT SHOW IT" in result.output
    assert "this run does not show it" in (tmp_path / "paper.md").read_text()


def test_the_printed_probabilities_sum_to_one_and_the_mean_of_eps() -> None:
    sums = mixing.printed_sums(5, 60, 0.5)
    assert min(sums) == 6
    for t, total in sums.items():
        assert total == pytest.approx(1 + min(0.1, 0.5 * np.sqrt(np.log(5) / t)), abs=1e-12)


@pytest.mark.parametrize(
    ("n_arms", "cost", "gap", "round_"),
    [(2, 1, 0.5, 6.2e9), (10, 1, 0.5, 9.6e9), (10, 0.1, 0.1, 1.8e17), (2, 0.5, 0.1, 1.3e14)],
)
def test_delta_binds_where_the_inequality_turns(
    n_arms: int, cost: float, gap: float, round_: float
) -> None:
    beta = 256 / cost**2
    t = delta_binds.binds_from(n_arms, cost, gap, beta)
    assert t == pytest.approx(round_, rel=0.03)
    assert beta * np.log(t) / (t * gap**2) == pytest.approx(
        0.5 * np.sqrt(np.log(n_arms) / (t * n_arms)), rel=1e-6
    )


def test_subscripts_are_set_everywhere_but_in_code() -> None:
    assert (
        page.typeset("e_t(i) and Σ_{t ≤ τ} of `line_1`, max_i")
        == "e<sub>t</sub>(i) and Σ<sub>t ≤ τ</sub> of `line_1`, max<sub>i</sub>"
    )
    assert (
        page.typeset("same_costs and p̃_t(i), B^α, ½B^0.3")
        == "same_costs and p̃<sub>t</sub>(i), B<sup>α</sup>, ½B<sup>0.3</sup>"
    )


def test_tables_set_numbers_to_the_right_and_drop_the_sign_of_nothing() -> None:
    text = page.table(Table(["a", "b"], [["x|y", "-0.000"], ["z", "1,000"]]))
    assert text == "| a | b |\n| --- | ---: |\n| x\\|y | 0.000 |\n| z | 1,000 |"


def test_a_picture_is_the_same_every_time() -> None:
    picture = Picture(
        "p",
        "A caption.",
        "a title",
        ("x", "y"),
        [
            Curve("measured", [1, 10], [1, 2], [0, 1], [2, 3]),
            Curve("a theorem", [1, 10], [3, 4], theory=True),
        ],
    )
    svg = render_svg(checked_spec(picture.draw()))
    assert svg == render_svg(picture.draw().spec)
    assert all(f">{text}</text>" in svg for text in ("a title", "measured", "a theorem", "x", "y"))
    # a band that reaches below zero ends above it, where a logarithmic axis has room
    assert picture.draw().data["low"].to_list() == [1 / 3, 1.0, None, None]
