"""The browser that tests use sees what it is there to see."""

from __future__ import annotations

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.integration.browser import Browser, BrowserError

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.xdist_group("browser")]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        """Tests print nothing."""


@pytest.fixture
def served(tmp_path):
    """A folder and the address that serves it."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield tmp_path, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_requests_errors_and_clicks_are_seen(browser: Browser, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(
        "<title>t</title><button onclick='this.textContent = 2'>1</button><img src='https://example.com/a.png'>"
        "<script>console.error('oh', 5); setTimeout(() => { throw new Error('late') })</script>"
    )
    page = browser.open(path.as_uri())
    assert page.requests == [path.as_uri(), "https://example.com/a.png"]
    assert page.hosts == {"example.com"}
    assert "error: oh 5" in page.problems
    assert any("Error: late" in problem for problem in page.problems)
    page.click("button")
    assert page.texts("button") == ["2"]
    assert "<button" in page.dom()
    with pytest.raises(BrowserError, match="nothing fits"):
        page.click("#nowhere")


def test_a_page_of_a_server_is_loaded_with_what_it_fetches_later(browser: Browser, served):
    folder, address = served
    (folder / "data.json").write_text("[1, 2]")
    (folder / "page.html").write_text(
        "<link rel=icon href='data:,'><p></p><script>fetch('data.json').then(answer => answer.json())"
        ".then(found => { document.querySelector('p').textContent = found.length })</script>"
    )
    page = browser.open(f"{address}/page.html")
    assert page.texts("p") == ["2"]
    assert page.hosts == {address.removeprefix("http://")}
    assert page.problems == []


def test_a_page_that_is_not_there_is_an_error(browser: Browser, tmp_path):
    with pytest.raises(BrowserError, match="ERR_FILE_NOT_FOUND"):
        browser.open((tmp_path / "nothing.html").as_uri())
