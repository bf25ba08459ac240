import html
import json
import re
import shlex
import shutil
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner

from purse import cli, policies, worlds
from purse.lab.figure import render_svg
from purse.lab.theory.estimate import Estimate
from research import paper
from research.paper import __main__ as paper_command
from research.paper import guarantees, page
from research.paper.claims import CLAIMS, OWN, PAPER, adversarial, readings
from research.paper.curves import Curve
from research.paper.finding import Claim, Finding, Picture, Table
from research.paper.notation import NOTATION
from tests.support.lab import checked_spec
from tests.support.paths import ROOT
from tests.support.soak import SOAK, scale

COMMITTED = ROOT / "docs" / "theory" / page.PAPER_FILE
PICTURES = [path.stem for path in (COMMITTED.parent / "pictures").glob("*.svg")]
# claims that are quick to study, the last one with a picture; in make soak all are studied
FEW = ("Equation (3)", "The class G", "Equation (9)")
STUDIED = [claim for claim in CLAIMS if SOAK or claim.title in FEW]
COMMANDS = [text for claim in CLAIMS for text in claim.commands if text.startswith("purse")]
needs_whole = pytest.mark.skipif(not SOAK, reason="needs the whole study, see `make soak`")
Studied = tuple[Path, paper.PaperReport]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studied]:
    """A quick study of the claims, and its folder."""
    folder = tmp_path_factory.mktemp("paper")
    with pytest.MonkeyPatch.context() as patch:
        # the longest games of the quick study take a quarter of its time
        patch.setattr(adversarial, "LONG", float(scale(10**5, 10**6)))
        patch.setattr(paper, "CLAIMS", STUDIED)
        yield folder, paper.study(folder, quick=True)


def test_a_quick_study_agrees_with_every_verdict(study: Studied) -> None:
    assert [title for title, finding in study[1].findings.items() if not finding.agrees] == []
    assert study[1].agrees


def test_a_violation_is_a_mean_beyond_its_bound_by_more_than_four_errors() -> None:
    def measure(value: object, budget: float) -> tuple[Estimate, float]:
        return Estimate(float(str(value)), 1.0, 0.0, 0.0), budget

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
    targets |= {page.slug(claim.title) for claim in CLAIMS}
    assert {
        html.unescape(link)
        for link in re.findall(r'href="#([^"]+)"', text)
        if not link.startswith("m")
    } <= targets
    assert "A quick look" in text
    links = re.findall(r"\]\((pictures/[^)]+)\)", (study[0] / "paper.md").read_text())
    assert links
    assert all((study[0] / link).read_text().startswith("<svg") for link in links)


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


def sources(claim: Claim, finding: Finding) -> list[str]:
    """All texts of a claim's section."""
    texts = [claim.title, claim.says, page.capital(finding.verdict), finding.measured]
    for block in finding.blocks:
        if isinstance(block, Table):
            texts += [*block.head, *(cell for row in block.rows for cell in row)]
        else:
            texts.append(block.caption if isinstance(block, Picture) else block)
    return texts


def test_the_page_shows_every_sign_of_the_formulas(study: Studied) -> None:
    text = shown(study[1].page.read_text())
    texts = [*NOTATION, *NOTATION.values()]
    for claim in STUDIED:
        texts += sources(claim, study[1].findings[claim.title])
    assert sum("e*" in each or "i*" in each for each in texts) > scale(3, 15)
    # tables drop the sign of nothing
    assert [each for each in texts if each != "-0.000" and words(each) not in text] == []


def test_a_second_study_computes_nothing_and_writes_the_same(
    study: Studied, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = study
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr("purse.lab.study.executors.play_shard", refuse)
    monkeypatch.setattr("purse.engine.counterfactual.counterfactual_sums", refuse)
    _, *files = paper.study(tmp_path, quick=True).files
    texts = [path for path in files if path.suffix == ".md"]
    sections = [part for path in texts for part in path.read_text().split("\n## ")[3:]]
    assert len(sections) == len(STUDIED)
    before = "\n## ".join((folder / path.name).read_text() for path in texts)
    assert all(part.rstrip() in before for part in sections)
    assert len(files) > len(texts)
    for path in set(files) - set(texts):
        assert path.read_bytes() == (folder / path.relative_to(tmp_path)).read_bytes()


def test_the_committed_pages_are_of_these_claims() -> None:
    texts = []
    for file, claims in ((page.PAPER_FILE, PAPER), (page.OWN_FILE, OWN)):
        texts.append(COMMITTED.with_name(file).read_text())
        assert re.findall("\n## (.*)", texts[-1])[2:] == [claim.title for claim in claims]
        others = {page.slug(claim.title) for claim in CLAIMS if claim not in claims}
        assert others.isdisjoint(re.findall(r"\]\(#([^)]+)\)", texts[-1]))
    text = "\n".join(texts)
    assert "--quick" not in text
    assert "does not show it" not in text
    for title, says, commands, _ in CLAIMS:
        parts = [
            f"## {title}\n\n*The claim.* {page.typeset(says)}\n",
            *(f"    {c}\n" for c in commands),
        ]
        assert all(part in text for part in parts), f"{title} has changed: run `make paper`"
    places = {*guarantees.costly_worlds(), *guarantees.stationary_worlds()}
    assert [place for place in places if f"| `{place}` |" not in text] == []
    assert len(guarantees.plain_worlds()) >= 16
    visible = shown(page.html(text, dict.fromkeys(PICTURES, "<svg/>"), "pictures"))
    texts = [*NOTATION, *NOTATION.values(), *(claim.says for claim in CLAIMS)]
    assert [each for each in texts if words(each) not in visible] == []
    # what the claims say beside their numbers
    for formula in ("e*B≤Σe*ρ(i)ENσ(i)", "roundsofi*aloneandthoseof", "Στ<t≤T(i*)et(i*)"):
        assert formula in visible
    assert sorted(COMMITTED.parent.glob("pictures/*.svg")) == sorted(
        COMMITTED.parent / link for link in set(re.findall(r"\]\((pictures/[^)]+)\)", text))
    )


@pytest.mark.parametrize("command", COMMANDS if SOAK else COMMANDS[:1])
def test_the_commands_on_the_page_run(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # drawing takes longer than all the rest
    monkeypatch.setattr(
        "purse.lab.study.results.Study.publish", lambda study, folder: [folder / "report.html"]
    )
    words = shlex.split(command)[1:]
    if {"compare", "regret", "simulate"} & set(words[:2]):  # with a small budget and few paths
        words = [
            word
            for word, before in zip(words, ["", *words], strict=False)
            if "-b" not in (word, before) and "-n" not in (word, before)
        ]
        words += ["-b", "1e3", "-n", "2"]
    result = CliRunner().invoke(cli.cli, words)
    assert result.exit_code == 0, result.output
    assert result.output


def test_the_commands_on_the_page_are_commands_of_policies_and_worlds() -> None:
    for command in COMMANDS:
        _, *words = shlex.split(command)
        verb: click.Command | None = cli.cli
        while isinstance(verb, click.Group):
            verb = verb.get_command(click.Context(verb), words.pop(0))
        assert verb is not None, command
        options = verb.make_context("purse", words).params
        for name in filter(None, options.get("policies") or [options.get("policy")]):
            assert policies.load(name.partition(":")[0])
        assert not options.get("world") or worlds.make(options["world"], 1000)


@pytest.mark.parametrize("agrees", [True, False])
def test_the_command_prints_verdicts_and_fails_if_a_run_does_not_show_one(
    agrees: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finding = Finding("true, or so", "nothing", agrees, ["Text."])
    monkeypatch.setattr(paper, "CLAIMS", [CLAIMS[0]._replace(study=lambda _: finding)])
    call = ["--quick", "-o", str(tmp_path)]
    plain, machine = (
        CliRunner().invoke(paper_command.paper, [*call, *more]) for more in ([], ["--json"])
    )
    assert plain.exit_code == machine.exit_code == 1 - agrees
    assert plain.stdout.startswith("Equation (3): true, or so\n    nothing")
    assert f"Written to {tmp_path / 'paper.html'}\n" in plain.stdout
    assert json.loads(machine.stdout)["claims"]["Equation (3)"]["agrees"] is agrees
    assert ("THIS RUN DOES NOT SHOW IT" in plain.output) == (not agrees)
    assert ("this run does not show it" in (tmp_path / "paper.md").read_text()) == (not agrees)


def test_the_printed_probabilities_sum_to_one_and_the_mean_of_eps() -> None:
    sums = readings.printed_sums(5, 60, 0.5)
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
    t = readings.binds_from(n_arms, gap, beta)
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


@needs_whole
def test_the_page_opens_without_complaint_or_network_fits_and_links_to_its_sections(
    study: Studied, opened: Any
) -> None:
    with opened(study[1].page) as (view, complaints):
        assert view.title() == "What the paper claims, what we measured, what is true"
        for width, scheme in product((1280, 390), ("light", "dark")):
            view.set_viewport_size({"width": width, "height": 900})
            view.emulate_media(color_scheme=scheme)
            assert view.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
            assert view.evaluate(
                "[...document.querySelectorAll('svg')].every(each => "
                "each.getBoundingClientRect().width > 200)"
            )
            ink, paper_ = view.evaluate(
                "[getComputedStyle(document.body).color, "
                "getComputedStyle(document.body).backgroundColor]"
            )
            assert (brightness(ink) > brightness(paper_)) == (scheme == "dark")
        for title in study[1].findings:
            view.get_by_role("link", name=title, exact=True).first.click()
            place = view.get_by_role("heading", name=title, exact=True).bounding_box()
            assert abs(place["y"]) < 900
        assert complaints == []


def brightness(colour: str) -> float:
    return sum(map(float, colour.removeprefix("rgb(").removesuffix(")").split(",")))
