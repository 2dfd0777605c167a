"""The page of a real study of Cassandra in a real browser, at three widths and on paper.

About ten minutes, nearly all of them the study.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browsing import OPENED, OVERLAPS, asked, complaints, opened, printed, show
from pdf_text import letters, letters_of, pages
from selenium import webdriver
from study_process import answered, insist_nothing_left

from dunnage.model.analysis import Analysis
from study_worth import in_short

pytestmark = [
    pytest.mark.live,
    pytest.mark.browser,
    pytest.mark.proof,
    pytest.mark.quiet,
    pytest.mark.timeout(2400),
]

Record = Callable[[str, object], None]
"""pytest's `record_property`: what is recorded as `seen` stands in `docs/proofs.md`."""
BLOCKS = 6
STUDY = """
dunnage: 1
name: {name}
testbed: {{kind: namespace, hosts: {{db: 1, client: 1}}, memory: 2GiB, cores: shared}}
database: {{kind: cassandra, members: 1, settings: {{jvm.compilers: C1}}}}
deployments:
  native: {{platform: native}}
  host: {{platform: docker, network: host}}
  bridge: {{platform: docker, network: bridge}}
twin: native
workloads: [A]
records: 2000
load:
  threads: [4, 16]
  rate: [200]
  connections: 16
  conditioning: 2s
  warmup: 500ms
  duration: 2s
blocks: {blocks}
sampler: {{rate: 5Hz}}
deadline: 240s
patience: 60s
questions:
  Q1: {{baseline: native, against: [host, bridge], metric: throughput, tolerance: 5%}}
  Q2: {{baseline: native, against: [bridge], metric: response.p95, tolerance: 10%}}
"""
WIDTHS = (360, 768, 1280)
"""Pixels: of a phone, a tablet and a screen."""
PARTS = frozenset(
    {
        *("answer", "questions", "scalability", "capacity", "latency", "time", "cpu", "rungs"),
        *("paths", "checks", "parity", "environment", "repeat", "runs"),
    }
)
"""Sections that a study with several levels and deployments has."""
UNDRAWN = """[...document.querySelectorAll('figure')].filter((figure) => {
  const shapes = [...figure.querySelectorAll('svg path, svg rect, svg circle, svg line')];
  return !shapes.some((it) => {
    const box = it.getBoundingClientRect();
    return box.width + box.height > 0 && box.right > 0 && box.left < innerWidth;
  });
}).map((figure) => figure.innerText.slice(0, 80))"""
"""Figures in which nothing can be seen."""
SENSELESS = """[...document.querySelectorAll('svg, svg *')].filter((it) =>
  ['d', 'x', 'y', 'x1', 'x2', 'y1', 'y2', 'cx', 'cy', 'width', 'height', 'viewBox']
    .some((name) => /nan|inf|none|undefined/i.test(it.getAttribute(name) ?? ''))
).map((it) => it.outerHTML.slice(0, 120))"""
"""Shapes with a place that is no number."""
RUNS = """[...document.querySelectorAll('#runs tbody tr')].map((row) =>
  [0, 1, 4].map((place) => row.cells[place].innerText))"""
"""Position, deployment and block of every run."""
TEXTS = "document.body.innerText.split(/\\s+/)"
MOST_PAGES = 80
EDGE = 14.0
"""Points from the edge of paper that most printers leave white."""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Analysis]:
    """The page of six blocks of Cassandra, natively, in Docker and behind a bridge."""
    place = tmp_path_factory.mktemp("page")
    name, path = f"page-{uuid.uuid4().hex[:8]}", place / "study.yaml"
    path.write_text(STUDY.format(name=name, blocks=BLOCKS))
    answer = answered("run", str(path), "--results", str(place))
    insist_nothing_left(name, set())
    analysis = Analysis.model_validate(answer["analysis"])
    assert analysis.missing == 0
    return Path(answer["page"]), analysis


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    with opened(tmp_path_factory.mktemp("browser")) as driver:
        yield driver


@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_of_a_live_result_fits_its_screen_and_complains_of_nothing(
    browser: webdriver.Chrome, page: tuple[Path, Analysis], width: int, record_property: Record
) -> None:
    record_property("seen", in_short(page[1]))
    complaints(browser)
    show(browser, page[0], width=width)
    asked(browser, OPENED)
    assert asked(browser, "document.documentElement.scrollWidth") <= width
    assert asked(browser, OVERLAPS) == 0
    assert complaints(browser) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_every_figure_of_a_live_result_is_drawn(
    browser: webdriver.Chrome, page: tuple[Path, Analysis], width: int, record_property: Record
) -> None:
    show(browser, page[0], width=width)
    asked(browser, OPENED)
    there = asked(browser, "[...document.querySelectorAll('section')].map((it) => it.id)")
    assert set(there) >= PARTS
    figures = asked(browser, "document.querySelectorAll('figure').length")
    record_property("seen", f"{figures} figures")
    assert figures > 10
    assert asked(browser, UNDRAWN) == []
    assert asked(browser, SENSELESS) == []


def test_the_page_of_a_live_result_lists_every_run_and_what_was_found(
    browser: webdriver.Chrome, page: tuple[Path, Analysis]
) -> None:
    path, analysis = page
    show(browser, path)
    asked(browser, OPENED)
    runs = [[str(run.position), run.deployment, str(run.block)] for run in analysis.runs]
    assert asked(browser, RUNS) == runs
    assert len(runs) == analysis.planned
    shown = asked(browser, "document.body.innerText")
    assert all(one.question in shown for one in analysis.answers)
    verdicts = {each.verdict.value for one in analysis.answers for each in one.comparisons}
    assert all(verdict in shown for verdict in verdicts)


def test_the_page_of_a_live_result_is_printed_whole_and_nothing_is_cut(
    browser: webdriver.Chrome,
    page: tuple[Path, Analysis],
    tmp_path: Path,
    record_property: Record,
) -> None:
    show(browser, page[0], width=680, media="print")
    texts = asked(browser, TEXTS)
    captions = asked(
        browser, "[...document.querySelectorAll('figcaption')].map((it) => it.innerText)"
    )
    paper = tmp_path / "page.pdf"
    paper.write_bytes(printed(browser))
    sheets = pages(paper)
    record_property("seen", f"{len(sheets)} pages")
    assert 3 <= len(sheets) <= MOST_PAGES
    assert all(sheets), "a page without a word"
    assert [word for sheet in sheets for word in sheet if word.nearest < EDGE] == []
    text = letters_of(paper)
    assert [each for each in captions if letters(each) not in text] == []
    assert [each for each in texts if letters(each) not in text] == []
