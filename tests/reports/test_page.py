"""Reports in a real browser: seen, sorted, in the dark, on a phone, with hostile texts."""

from __future__ import annotations

import pytest

from tests.integration.browser import Browser, Page
from tests.reports.specimen import HOSTILE, full_report, hostile_placement, hostile_report

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.xdist_group("browser")]

FIGURES = 8


@pytest.fixture(scope="module")
def full(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("reports") / "full.html"
    full_report().write(path)
    return path.as_uri()


@pytest.fixture(scope="module")
def hostile(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("reports") / "hostile.html"
    hostile_report().write(path)
    return path.as_uri()


@pytest.fixture(scope="module")
def placed(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("reports") / "placed.html"
    hostile_placement().write(path)
    return path.as_uri()


def assert_sound(page: Page, url: str) -> None:
    """No error, no request but the file, no wider than the window; every figure drawn, with a size."""
    assert page.problems == []
    assert [each for each in page.requests if not each.startswith("data:")] == [url]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    boxes = page.evaluate(
        "[...document.querySelectorAll('.plot')].map(plot => [plot.querySelectorAll('svg.drawing').length,"
        " plot.querySelector('.drawing')?.getBoundingClientRect().width,"
        " plot.querySelector('.drawing')?.getBoundingClientRect().height])"
    )
    assert len(boxes) > 0
    assert all(count > 0 and width > 200 and height > 100 for count, width, height in boxes)


def test_a_report_is_drawn_without_any_request(browser: Browser, full):
    page = browser.open(full)
    assert_sound(page, full)
    assert page.hosts == set()
    assert page.evaluate("document.querySelectorAll('.plot').length") == FIGURES
    assert page.evaluate("document.querySelectorAll('.plot .bar rect, .plot .dot').length") > 300
    assert page.evaluate("document.querySelectorAll('.plot .heat rect').length") == 30
    assert page.screenshot()[:8] == b"\x89PNG\r\n\x1a\n"


def test_no_link_leads_out_of_the_page(browser: Browser, full):
    page = browser.open(full)
    links = page.evaluate("[...document.querySelectorAll('a[href]')].map(each => each.getAttribute('href'))")
    assert links == [f"#section-{number}" for number in range(1, 5)]


def test_the_table_of_contents_leads_to_its_sections(browser: Browser, full):
    page = browser.open(full)
    page.click("nav li:nth-child(3) a")
    assert page.evaluate("location.hash") == "#section-3"
    assert abs(page.evaluate("document.querySelector('#section-3').getBoundingClientRect().top")) < 50


def test_a_click_on_a_heading_sorts_and_another_turns_it_round(browser: Browser, full):
    page = browser.open(full)
    first = "#section-1 > .table"
    before = page.texts(f"{first} td:nth-child(3)")
    page.click(f"{first} th:nth-child(3) button")
    rising = page.texts(f"{first} td:nth-child(3)")
    assert rising == ["0.0012 %", "0.41 %", "3.12 %", "25 %", "33 %", "50 %"]
    assert page.evaluate(f"document.querySelector('{first} th:nth-child(3)').ariaSort") == "ascending"
    page.click(f"{first} th:nth-child(3) button")
    assert page.texts(f"{first} td:nth-child(3)") == rising[::-1] != before
    page.click(f"{first} th:nth-child(1) button")
    assert page.texts(f"{first} td:nth-child(1)")[:2] == ["detail.currency", "detail.side"]
    assert page.evaluate(f"document.querySelectorAll('{first} th[aria-sort]').length") == 1


def test_numbers_come_before_texts_and_what_is_missing_last_in_both_directions(browser: Browser, hostile):
    page = browser.open(hostile)
    heading, column = ".table th:nth-child(2) button", "section > .table td:nth-child(2)"
    page.click(heading)
    rising = page.texts(column)
    assert rising[:5] == ["−∞", "−5", "0", "1", "1e300"]
    assert rising[5:] == ["∞", "about 2^1,328", "no number", "NaN", "–"]
    page.click(heading)
    assert page.texts(column)[:3] == ["no number", "∞", "about 2^1,328"]
    assert page.texts(column)[-2:] == ["NaN", "–"]


def test_the_data_of_a_figure_unfolds_as_a_table(browser: Browser, full):
    page = browser.open(full)
    page.click("#section-1 figure summary")
    assert page.texts("#section-1 figure td")[:2] == ["price", "812,334"]
    label = page.evaluate("document.querySelector('.plot').getAttribute('aria-label')")
    assert (
        label == "Filters that name an attribute. 6 bars. Least 950 (detail.side). Greatest 812,334 (price)."
    )


def test_the_page_is_dark_for_those_who_prefer_it_and_follows_a_change(browser: Browser, full):
    def background(page: Page) -> int:
        colour = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        return int(colour.strip("rgb()").split(",")[0])

    def bar(page: Page) -> str:
        return str(page.evaluate("getComputedStyle(document.querySelector('.plot .bar rect')).fill"))

    page = browser.open(full, dark=True)
    assert_sound(page, full)
    dark_bar = bar(page)
    assert background(page) < 60
    page.prefer(dark=False)
    page.settle()
    assert background(page) > 200
    assert bar(page) != dark_bar
    assert page.problems == []


def test_a_report_fits_a_phone(browser: Browser, full):
    page = browser.open(full, width=390, height=844, touch=True)
    assert_sound(page, full)


def test_the_value_under_the_pointer_is_told_and_a_click_in_the_legend_hides(browser: Browser, full):
    page = browser.open(full)
    page.evaluate(
        "(bar => { const box = bar.getBoundingClientRect(); bar.dispatchEvent(new PointerEvent('pointermove',"
        " {bubbles: true, clientX: box.x + 5, clientY: box.y + 3})) })(document.querySelector('.bar rect'))"
    )
    assert page.evaluate("[...document.querySelector('.tip').children].map(each => each.textContent)") == [
        "price",
        "filters: 812,334",
    ]
    before = page.evaluate("document.querySelectorAll('.plot .line').length")
    page.click(".legend button")
    assert page.evaluate("document.querySelectorAll('.plot .line').length") == before - 1
    assert page.problems == []


def test_words_of_tiles_and_headings_are_not_broken_and_nothing_covers_a_figure(browser: Browser, placed):
    for width in (1280, 390):
        page = browser.open(placed, width=width)
        assert_sound(page, placed)
        tight = (
            "[...document.querySelectorAll('.facts dt, .facts dd, th')]"
            ".filter(each => each.scrollWidth > each.clientWidth + 1).map(each => each.textContent)"
        )
        assert page.evaluate(tight) == []
        covered = (
            "[...document.querySelectorAll('.plot')].filter(plot => plot.querySelector('.legend')?.getBoundingClientRect().bottom"
            " > plot.querySelector('.drawing').getBoundingClientRect().top).length"
        )
        assert page.evaluate(covered) == 0


def test_the_command_is_copied_or_selected(browser: Browser, full):
    page = browser.open(full)
    page.click(".copy")
    assert page.texts(".copy")[0] in {"Copied", "Selected"}
    assert page.problems == []


def test_hostile_texts_are_shown_and_never_run(browser: Browser, hostile):
    page = browser.open(hostile)
    assert_sound(page, hostile)
    assert page.evaluate("window.hacked") is None
    assert page.texts("h1") == [HOSTILE[0]]
    assert (
        page.evaluate(
            "document.querySelectorAll('main script:not([type=\"application/json\"]), main img').length"
        )
        == 0
    )
    ticks = page.evaluate(
        "[...[...document.querySelectorAll('.plot')][0].querySelectorAll('.ytick')].map(each => each.textContent)"
    )
    assert "<a href='https://example.co…" in ticks
    assert page.evaluate("document.querySelectorAll('.plot a').length") == 0


def test_hostile_names_of_brokers_and_subscribers_are_only_shown(browser: Browser, placed):
    page = browser.open(placed)
    assert page.evaluate("window.hacked") is None
    assert (
        page.evaluate("document.querySelectorAll('main img, main svg[onload], main a:not(nav a)').length")
        == 0
    )
    assert HOSTILE[0][:20] in page.evaluate(
        "[...document.querySelectorAll('.note')].map(each => each.textContent).join()"
    )


def test_a_script_that_slips_in_would_not_run(browser: Browser, full):
    page = browser.open(full)
    page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<img src=\"data:,\" onerror=\"window.hacked = 1\">')"
    )
    page.evaluate("fetch('https://example.com/').catch(() => 0)")
    page.settle()
    assert page.evaluate("window.hacked") is None
    assert any("Content Security Policy" in problem for problem in page.problems)
