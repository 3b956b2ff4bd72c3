"""The page in a real browser: filters, anchors, print, phone and desktop."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from chromium_pipe import Browser, executable
from sample_report import claim, rich_report

from verify.record import Counts
from verify.report.page import to_html

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
CLAIMS = (
    "ren2024/theorem-3.1",
    "collins2024/definition-3.2*",
    "huang2024/proposition-2",
)
SHOWN = "[...document.querySelectorAll('article.claim')].filter(a => !a.hidden)"
CONTRAST = """
(() => {
  const parse = (c) => c.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (e) => {
    for (let at = e; at; at = at.parentElement) {
      const c = parse(getComputedStyle(at).backgroundColor);
      if (c.length < 4 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  const poor = [];
  for (const e of document.body.querySelectorAll("*")) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    const style = getComputedStyle(e);
    if (!own || e.closest("svg") || style.fontSize === "0px") continue;
    if (!e.checkVisibility({ visibilityProperty: true })) continue;
    const [a, b] = [light(parse(style.color)), light(behind(e))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) poor.push([e.tagName, e.className, style.color, ratio]);
  }
  return poor;
})()
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if not executable():
        pytest.fail("no Chromium on the PATH; install it to run this test")
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """The page of a small run of the theorem modules."""
    folder = tmp_path_factory.mktemp("run")
    options = ["--profile", "smoke", "--jobs", "1", "--out", str(folder)]
    done = subprocess.run(
        [sys.executable, "-m", "verify", "run", *CLAIMS, *options],
        cwd=ROOT, env=os.environ, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
    return (folder / "index.html").as_uri()


def many():
    """A report with a claim of every sort, and a hundred that hold."""
    base = rich_report()
    more = [
        claim(f"ren2024/lemma-{i}", title=f"lemma number {i}", wording="ours")
        for i in range(100)
    ]
    odd = claim("huang2024/a <b>&\" 'id", title="odd id", paper="huang2024")
    papers = [
        paper.model_copy(update={"counts": Counts(holds=101 - 99 * place)})
        for place, paper in enumerate(base.papers)
    ]
    changes = {"claims": [*base.claims, *more, odd], "papers": papers}
    return base.model_copy(update=changes)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The page of a report made by hand."""
    path = tmp_path_factory.mktemp("page") / "index.html"
    path.write_text(to_html(many()), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def opened(browser, page):
    browser.resize(1280, 900)
    browser.open("about:blank")
    browser.open(page)
    return browser


def shown(browser):
    return browser.run(f"{SHOWN}.map(a => a.querySelector('.body').id)")


def status(browser):
    return browser.run("document.getElementById('showing').textContent")


@pytest.mark.parametrize(("width", "height"), [(390, 844), (1280, 900)])
@pytest.mark.parametrize("dark", [False, True])
def test_a_real_run_is_drawn_and_says_nothing_to_the_console(
    browser, real, tmp_path, width, height, dark
):
    browser.resize(width, height, dark=dark)
    browser.open(real)
    browser.settle()
    assert browser.complaints() == []
    assert browser.requests() == [real]
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.run("document.querySelectorAll('math').length") > 10
    shot = tmp_path / "shot.png"
    browser.screenshot(shot)
    assert shot.stat().st_size > 20_000


@pytest.mark.parametrize("width", [390, 1280])
def test_an_opened_page_is_no_wider_than_the_window(opened, width):
    opened.resize(width, 900)
    opened.run("for (const d of document.querySelectorAll('details')) d.open = true")
    opened.settle()
    assert opened.run("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("dark", [False, True])
def test_every_text_has_contrast(opened, dark):
    opened.resize(1280, 900, dark=dark)
    opened.run("for (const d of document.querySelectorAll('details')) d.open = true")
    opened.settle()
    assert opened.run(CONTRAST) == []


def test_filters_are_applied_counted_and_kept_in_the_address(opened, page):
    assert status(opened) == "All 109 claims are shown."
    opened.run(
        "(s => { s.value = 'refuted'; s.dispatchEvent(new Event('input', "
        "{bubbles: true})) })(document.querySelector('[name=group]'))"
    )
    opened.wait("location.hash == '#filter:group=refuted'")
    assert shown(opened) == ["huang2024/proposition-2"]
    assert status(opened) == "1 of 109 claims."
    labels = opened.run(
        "[...document.querySelector('[name=paper]').options].map(o => o.text)"
    )
    assert labels == ["all (1)", "ren2024 (0)", "huang2024 (1)"]
    headings = opened.run(
        "[...document.querySelectorAll('section.group')].filter(s => !s.hidden)"
        ".map(s => s.querySelector('.count').textContent)"
    )
    assert headings == ["1"]
    opened.click("button[type=reset]")
    opened.wait("location.hash == ''")
    assert status(opened) == "All 109 claims are shown."


def test_a_filtered_view_can_be_linked(browser, page):
    browser.open("about:blank")
    browser.open(page + "#filter:paper=ren2024&q=Number+47&wording=ours")
    assert shown(browser) == ["ren2024/lemma-47"]
    assert browser.run("document.querySelector('[name=q]').value") == "Number 47"
    browser.open("about:blank")
    browser.open(page + "#filter:paper=unknown&group=%ZZ")
    assert status(browser) == "All 109 claims are shown."


def test_a_sentence_s_number_leads_to_its_claims(opened):
    opened.click("a.holds[data-filter]")
    opened.wait("location.hash.startsWith('#filter:')")
    opened.settle()
    assert len(shown(opened)) == 101
    assert opened.run("scrollY") > 0


def test_the_keyboard_reaches_the_search(opened):
    opened.press("/", "/")
    assert opened.run("document.activeElement.name") == "q"
    opened.type("Hall's")
    opened.wait(f"{SHOWN}.length == 1")
    assert shown(opened) == ["huang2024/proposition-2"]
    opened.type("/x")
    opened.wait("!document.getElementById('none').hidden")
    assert status(opened) == "0 of 109 claims."
    opened.press("Escape")
    opened.wait(f"{SHOWN}.length == 109")
    opened.press("Tab")
    assert opened.run("document.activeElement.name") == "paper"
    assert (
        opened.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    )


def test_a_claim_opens_by_the_keyboard(opened):
    opened.run("document.querySelector('article summary').focus()")
    opened.press("Enter", "\r")
    opened.wait("document.querySelector('article details').open")


ANCHOR = """
(id => {
  const body = document.getElementById(id);
  const box = body.closest('article').getBoundingClientRect();
  return [body.closest('details').open, box.top];
})
"""


@pytest.mark.parametrize(
    "name", ["huang2024/figure-2", "ren2024/lemma-77", "ren2024/theorem-3.1@keys"]
)
def test_a_link_to_a_claim_opens_it_and_scrolls_there(browser, page, name):
    browser.resize(1280, 900)
    browser.open("about:blank")
    browser.open(f"{page}#{name}")
    browser.settle()
    open_, top = browser.run(f"{ANCHOR}({name!r})")
    assert open_
    assert 0 <= top < 300


def test_a_link_inside_shows_what_a_filter_hides(opened):
    opened.run("location.hash = '#filter:group=refuted'")
    opened.wait(f"{SHOWN}.length == 1")
    opened.click("article:not([hidden]) .nearest a")
    opened.wait(f"{SHOWN}.length == 109")
    opened.settle()
    open_, top = opened.run(f"{ANCHOR}('huang2024/proposition-2/repaired')")
    assert open_
    assert 0 <= top < 300


def test_without_scripts_the_page_is_complete_and_has_no_controls(browser, page):
    browser.resize(1280, 900, scripts=False)
    browser.open("about:blank")
    browser.open(page + "#ren2024/theorem-3.1@keys")
    browser.resize(1280, 900)
    assert browser.run("document.getElementById('filter').checkVisibility()") is False
    assert len(shown(browser)) == 109
    # The browser itself opens what a fragment leads into.
    open_, top = browser.run(f"{ANCHOR}('ren2024/theorem-3.1@keys')")
    assert open_
    assert 0 <= top < 900
    targets = browser.run(
        "[...document.querySelectorAll('a[href^=\"#\"]')].filter(a => "
        "!document.getElementById(decodeURIComponent(a.hash.slice(1)))).length"
    )
    assert targets == 0


def test_nothing_hostile_runs(opened):
    assert opened.complaints() == []
    assert opened.run("document.querySelectorAll('script').length") == 1
    blocked = opened.run(
        "new Promise(done => { document.addEventListener('securitypolicyviolation', "
        "e => done(e.effectiveDirective)); const s = document.createElement('script');"
        " s.text = 'window.ran = 1'; document.body.append(s) })"
    )
    assert blocked == "script-src-elem"
    assert opened.run("typeof window.ran") == "undefined"


def test_it_prints_all_of_it(opened, tmp_path):
    path = tmp_path / "page.pdf"
    opened.pdf(path)
    raw = path.read_bytes()
    assert raw.startswith(b"%PDF")
    # Closed, its claims would fill six pages.
    assert len(re.findall(rb"/Type\s*/Page\b", raw)) > 20
    assert (
        opened.run("document.querySelectorAll('article > details[open]').length") == 0
    )


def test_it_opens_within_a_second(browser, page):
    """Measured on a page of 109 claims, against an empty one on the same machine."""
    browser.resize(1280, 900)
    blank = min(browser.open("about:blank") for _ in range(3))
    times = []
    for _ in range(3):
        browser.open("about:blank")
        times.append(browser.open(page))
    assert min(times) - blank < 1000
