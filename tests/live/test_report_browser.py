"""The page in a real browser: offline, on a phone, in the dark, on paper, with hostile names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import OPENED, OVERLAPS, asked, complaints, opened, show
from selenium import webdriver

from dunnage.report.page.page import page
from dunnage.store.write import write_again
from report_samples import HOSTILE, nothing_measured, poisoned, sample

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    with opened(tmp_path_factory.mktemp("browser")) as driver:
        yield driver


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    directory = tmp_path_factory.mktemp("pages")
    made = {
        "full": sample(),
        "hostile": sample(hostile=True),
        "few": sample(blocks=3),
    }
    written = {
        name: write_again(
            directory / f"{name}.html",
            page(it.analysis, it.study, it.plan, it.stays, source=it.source).encode(),
        )
        for name, it in made.items()
    }
    it = made["full"]
    written["empty"] = write_again(
        directory / "empty.html", page(nothing_measured(), it.study, it.plan, ()).encode()
    )
    return written


ALL = ("full", "hostile", "few", "empty")


@pytest.mark.parametrize("name", ALL)
def test_the_page_asks_no_network_and_reports_no_error(
    browser: webdriver.Chrome, pages: dict[str, Path], name: str
) -> None:
    complaints(browser)
    browser.get_log("performance")  # type: ignore[no-untyped-call]
    show(browser, pages[name])
    assert complaints(browser) == []
    events = browser.get_log("performance")  # type: ignore[no-untyped-call]
    messages = [json.loads(event["message"])["message"] for event in events]
    requests = [
        message["params"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    ]
    # The page that the browser begins with may still be loading.
    addresses = [
        request["request"]["url"]
        for request in requests
        if not request["documentURL"].startswith("chrome:")
    ]
    assert pages[name].as_uri() in addresses
    assert {address.split(":")[0] for address in addresses} <= {"file", "data"}


@pytest.mark.parametrize("width", [320, 360, 768, 1280])
@pytest.mark.parametrize("name", ALL)
def test_nothing_scrolls_sideways_but_tables_inside_themselves(
    browser: webdriver.Chrome, pages: dict[str, Path], name: str, width: int
) -> None:
    show(browser, pages[name], width=width, height=700)
    asked(browser, OPENED)
    assert asked(browser, "document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (375, 667), (320, 568)])
@pytest.mark.parametrize("name", ["full", "few"])
def test_the_first_screen_holds_an_answer(
    browser: webdriver.Chrome, pages: dict[str, Path], name: str, width: int, height: int
) -> None:
    show(browser, pages[name], width=width, height=height)
    claim = "document.querySelector('.lead').getBoundingClientRect()"
    assert 0 < asked(browser, f"{claim}.top") < asked(browser, f"{claim}.bottom") <= height


def test_a_dark_page_is_dark_and_a_printed_one_is_not(
    browser: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    def brightness(scheme: str, media: str = "") -> tuple[int, int]:
        show(browser, pages["full"], scheme=scheme, media=media)
        colours = [
            asked(browser, f"getComputedStyle(document.body).{part}")
            for part in ("backgroundColor", "color")
        ]
        paper, ink = (
            sum(int(number) for number in colour.strip("rgba()").split(",")[:3])
            for colour in colours
        )
        return paper, ink

    paper, ink = brightness("light")
    assert paper > 700 > 200 > ink
    paper, ink = brightness("dark")
    assert ink > 600 > 100 > paper
    paper, ink = brightness("dark", "print")
    assert paper == 765
    assert ink == 0


CONTRAST = """(() => {
  const light = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map(Number)
    .map((part) => part / 255)
    .map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, place) => sum + part * [0.2126, 0.7152, 0.0722][place], 0);
  const paper = light(getComputedStyle(document.body).backgroundColor);
  return [...document.querySelectorAll('main p, main td, main th, main dt, main .verdict, .warn')]
    .map((element) => light(getComputedStyle(element).color))
    .map((ink) => (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05))
    .reduce((least, ratio) => Math.min(least, ratio), 21);
})()"""


@pytest.mark.parametrize("width", [360, 768, 1280])
@pytest.mark.parametrize("name", ["full", "few"])
def test_the_marks_of_an_axis_do_not_touch_one_another(
    browser: webdriver.Chrome, pages: dict[str, Path], name: str, width: int
) -> None:
    show(browser, pages[name], width=width)
    assert asked(browser, OVERLAPS) == 0


def test_every_figure_says_what_it_shows_and_has_a_table(
    browser: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    show(browser, pages["full"])
    figures = "[...document.querySelectorAll('figure')]"
    assert asked(browser, f"{figures}.length") > 10
    unnamed = "[...document.querySelectorAll('[role=img]')].filter((it) => !it.ariaLabel)"
    assert asked(browser, f"{unnamed}.length") == 0
    bare = f"{figures}.filter((it) => !it.querySelector('table') && !it.closest('#order'))"
    assert asked(browser, f"{bare}.length") == 0


def test_on_paper_nothing_is_cut_off(browser: webdriver.Chrome, pages: dict[str, Path]) -> None:
    show(browser, pages["full"], width=680, media="print")
    wide = (
        "[...document.querySelectorAll('.scroll')]"
        ".filter((it) => it.querySelector('table').getBoundingClientRect().width > 681)"
        ".map((it) => it.ariaLabel)"
    )
    assert asked(browser, wide) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_has_enough_contrast(
    browser: webdriver.Chrome, pages: dict[str, Path], scheme: str
) -> None:
    show(browser, pages["full"], scheme=scheme)
    assert asked(browser, CONTRAST) >= 4.5


def test_on_paper_everything_folded_is_open(
    browser: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    script = "document.getElementById('study-file').checkVisibility()"
    show(browser, pages["full"])
    assert asked(browser, script) is False
    show(browser, pages["full"], media="print")
    assert asked(browser, script) is True


def test_hostile_names_are_shown_literally_and_do_nothing(
    browser: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    show(browser, pages["hostile"])
    assert HOSTILE in asked(browser, "document.body.innerText")
    assert browser.title == "what-docker-costs-redis · Dunnage"
    assert asked(browser, "document.images.length") == 0
    assert asked(browser, "document.scripts.length") == 1


PAYLOADS = (
    "<script>window.owned = 1</script>",
    '"><img src=x onerror="window.owned = 1">',
    "</style><script>window.owned = 1</script>",
    "</title></svg><svg onload=window.owned=1>",
    "'; window.owned = 1; //",
    "{{7*7}}{% raw %}",
    r"\input{/etc/passwd}",
    "../../etc/passwd",
    "`<b>`",
)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_text_from_outside_becomes_anything_but_text(
    browser: webdriver.Chrome, tmp_path: Path, payload: str
) -> None:
    made = poisoned(payload)
    text = page(
        made.analysis,
        made.study,
        made.plan,
        made.stays,
        source=made.source,
        failures=(f"db-1: {payload}",),
    )
    show(browser, write_again(tmp_path / "page.html", text.encode()))
    asked(browser, OPENED)
    assert asked(browser, "window.owned === undefined")
    assert asked(browser, "document.scripts.length") == 1
    assert asked(browser, "document.images.length") == 0
    assert asked(browser, "document.querySelectorAll('b, [onerror], [onload]').length") == 0
    shown = asked(browser, "document.body.innerText")
    plain = payload.replace("`", "")
    assert shown.replace("`", "").count(plain) > 100
    assert "root:x:0" not in shown


def test_every_link_leads_to_a_place_on_the_page(
    browser: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    for name in ALL:
        show(browser, pages[name])
        links = asked(browser, "[...document.links].map((link) => link.getAttribute('href'))")
        assert links
        for link in links:
            assert link.startswith("#")
            assert asked(browser, "document.getElementById(arguments[0]) !== null", link[1:])


def test_the_table_of_runs_is_sorted_by_a_click_on_a_heading(
    browser: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    show(browser, pages["full"])
    head = "document.querySelectorAll('#runs thead th')[6]"
    read = (
        "[...document.querySelectorAll('#runs tbody tr')]"
        ".map((row) => Number(row.cells[6].textContent.replaceAll(',', '')))"
    )
    asked(browser, f"{head}.querySelector('button').click()")
    assert asked(browser, read) == sorted(asked(browser, read))
    asked(browser, f"{head}.querySelector('button').click()")
    assert asked(browser, read) == sorted(asked(browser, read), reverse=True)
    assert asked(browser, f"{head}.getAttribute('aria-sort')") == "descending"


def test_what_a_reader_opened_and_sorted_stands_in_the_address(
    browser: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    show(browser, pages["full"])
    fold = "document.querySelector('#runs details')"
    head = "document.querySelectorAll('#runs thead th')[6]"
    assert not asked(browser, f"{fold}.open")
    asked(browser, f"{fold}.querySelector('summary').click()")
    asked(browser, f"{head}.querySelector('button').click()")
    asked(browser, f"{head}.querySelector('button').click()")
    address = asked(browser, "location.href")
    browser.get("about:blank")
    browser.get(address)
    assert asked(browser, f"{fold}.open")
    assert asked(browser, f"{head}.getAttribute('aria-sort')") == "descending"
    asked(browser, "document.querySelector('nav a[href=\"#checks\"]').click()")
    assert "checks" in asked(browser, "location.hash")
    browser.get(address)
    assert asked(browser, f"{fold}.open")
