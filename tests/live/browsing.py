"""A real browser without a network, and what it sees of a page."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

_SWITCHES = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)
_A4 = {"paperWidth": 210 / 25.4, "paperHeight": 297 / 25.4}
"""Inches."""
OPENED = "document.querySelectorAll('details').forEach((it) => { it.open = true; })"
"""Opens all that is folded."""
OVERLAPS = """[...document.querySelectorAll('svg.x, .forest tfoot svg')].flatMap((axis) => {
  const boxes = [...axis.querySelectorAll('text')].filter((it) => it.textContent)
    .map((it) => it.getBoundingClientRect()).filter((box) => box.width)
    .sort((a, b) => a.left - b.left);
  return boxes.slice(1).filter((box, place) => box.left < boxes[place].right - 0.5);
}).length"""
"""How many marks of axes touch one another."""


@contextmanager
def opened(directory: Path) -> Iterator[webdriver.Chrome]:
    """A browser that keeps what it writes in a directory, and what it logs."""
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for switch in (*_SWITCHES, f"--user-data-dir={directory}"):
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    try:
        yield driver
    finally:
        driver.quit()


def show(
    browser: webdriver.Chrome,
    page: Path,
    *,
    width: int = 1280,
    height: int = 800,
    scheme: str = "light",
    media: str = "",
) -> None:
    """Show a page on a screen of this size in pixels, or as `print` would have it."""
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
    )
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"media": media, "features": [{"name": "prefers-color-scheme", "value": scheme}]},
    )
    browser.get(page.as_uri())


def asked(browser: webdriver.Chrome, script: str, *arguments: object) -> Any:
    """The value of an expression on the page that is shown."""
    return browser.execute_script(f"return ({script})", *arguments)


def complaints(browser: webdriver.Chrome) -> list[dict[str, Any]]:
    """What the browser has logged of pages since it was asked before."""
    logged: list[dict[str, Any]] = browser.get_log("browser")  # type: ignore[no-untyped-call]
    return logged


def printed(browser: webdriver.Chrome) -> bytes:
    """The page that is shown as a PDF file on A4 paper, as its own rules have it."""
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    wanted = {**_A4, "printBackground": True, "preferCSSPageSize": True}
    return base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", wanted)["data"])
