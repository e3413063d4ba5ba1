"""A real headless Chromium for tests: `from tests.integration.browser import browser, browser_process` in a conftest.

    def test_page(browser):
        page = browser.open("file:///…/report.html", dark=True, width=390)
        assert not page.problems and page.hosts == set()
        page.click("th button")
        assert page.evaluate("document.title") == "…"

The browser is driven over a pipe (Chrome DevTools Protocol, `--remote-debugging-pipe`): no port, no websocket, and
it ends when this process ends, however that happens. One runs a session; every page has cookies of its own. Names
of other machines do not resolve in it, so a page that asks for one is seen and gets no answer.
"""

from __future__ import annotations

import base64
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

import pytest

__all__ = ["Browser", "BrowserError", "Page", "browser", "browser_process", "find_browser", "missing"]

_SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "browser"
_KEY = pytest.StashKey["_Process"]()
_SECONDS = 30.0  # for one answer; a loaded machine may need many to start a browser
_QUIET_SECONDS = 0.2  # with no request under way, a page has settled
_OPTIONS = (
    "--headless=new",
    "--no-sandbox",  # its sandbox refuses root, and containers often lack what it needs
    "--disable-gpu",
    "--disable-dev-shm-usage",  # /dev/shm of a container is small
    "--disable-quic",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
    "--remote-debugging-pipe",
)


class BrowserError(Exception):
    """The browser refused a command, a script in a page threw, or no answer came in time."""


@pytest.fixture(scope="session")
def browser_process(request: pytest.FixtureRequest) -> _Process:
    """The one browser of this run; conftests that import this fixture share it."""
    stash = request.config.stash
    if _KEY not in stash:
        path, reason = find_browser()
        if not path:
            missing(reason)
        stash[_KEY] = _Process(path)
        request.config.add_cleanup(stash[_KEY].close)
    return stash[_KEY]


@pytest.fixture
def browser(browser_process: _Process) -> Iterator[Browser]:
    """Opens pages, and closes them after the test."""
    with_pages = Browser(browser_process)
    yield with_pages
    with_pages.close()


def find_browser() -> tuple[str, str]:
    """The path of a Chromium, or empty and the sentence that says how to get one."""
    command = [sys.executable, str(_SCRIPT), "--find"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return done.stdout.strip(), done.stderr.strip()


def missing(reason: str) -> NoReturn:
    """Skip; but fail where everything must be there: on CI, and where `.ci/run` says so."""
    if any(os.environ.get(name, "") not in {"", "0", "false"} for name in ("CI", "THATCH_REQUIRE_ALL")):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


class Browser:
    """Pages of one test, in a profile that nobody else sees."""

    def __init__(self, process: _Process) -> None:
        self._process = process
        self._context = process.call("Target.createBrowserContext")["browserContextId"]

    def open(
        self, url: str, *, width: int = 1280, height: int = 900, dark: bool = False, touch: bool = False
    ) -> Page:
        """A new page that has loaded `url` and settled."""
        blank = self._process.call("Target.createTarget", url="about:blank", browserContextId=self._context)
        page = Page(self._process, blank["targetId"])
        page.resize(width, height, touch=touch)
        page.prefer(dark=dark)
        page.go(url)
        return page

    def close(self) -> None:
        """Close every page of this test."""
        self._process.call("Target.disposeBrowserContext", browserContextId=self._context)


class Page:
    """One page.

    Attributes
    ----------
    requests : every URL that the page asked for, sockets too, in order; the page itself is the first
    problems : errors and warnings of the console, exceptions, and requests that failed
    """

    def __init__(self, process: _Process, target: str) -> None:
        self._process = process
        self._session = process.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.requests: list[str] = []
        self.problems: list[str] = []
        self._pending: set[str] = set()
        self._loaded = False
        process.listeners[self._session] = self._on_event
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    @property
    def hosts(self) -> set[str]:
        """Hosts that the page asked; empty for a page from disk that needs nothing else."""
        return {urlsplit(url).netloc for url in self.requests} - {""}

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command of the DevTools protocol."""
        return self._process.call(method, self._session, **parameters)

    def go(self, url: str) -> None:
        """Load `url` and wait until it has settled."""
        self._loaded = False
        if problem := self.call("Page.navigate", url=url).get("errorText"):
            raise BrowserError(f"{url}: {problem}")
        self.settle()

    def settle(self) -> None:
        """Wait for the load event, then until no request is under way and what is due has been drawn."""
        self._process.wait(lambda: self._loaded, "the page to load")
        while True:
            self._process.wait(lambda: not self._pending, "requests to end")
            self._process.listen(_QUIET_SECONDS)
            if not self._pending:
                break
        self.evaluate(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))"
        )

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression; a promise is awaited."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise BrowserError(_exception(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def dom(self) -> str:
        """The page as it is now, as HTML."""
        return str(self.evaluate("document.documentElement.outerHTML"))

    def texts(self, selector: str) -> list[str]:
        """The visible text of each element that fits."""
        chosen = f"[...document.querySelectorAll({json.dumps(selector)})]"
        return list(self.evaluate(f"{chosen}.map(each => each.innerText.trim())"))

    def click(self, selector: str) -> None:
        """A real click in the middle of the first element that fits, scrolled into view."""
        where = self.evaluate(f"""(() => {{
            const each = document.querySelector({json.dumps(selector)});
            if (!each) throw new Error("nothing fits " + {json.dumps(selector)});
            each.scrollIntoView({{block: "center", behavior: "instant"}});
            const box = each.getBoundingClientRect();
            return {{x: box.x + box.width / 2, y: box.y + box.height / 2}};
        }})()""")
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **where)
        self.settle()

    def resize(self, width: int, height: int, *, touch: bool = False) -> None:
        """The size of the window; `touch` makes it a phone's."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": touch}
        self.call("Emulation.setDeviceMetricsOverride", **metrics)
        self.call("Emulation.setTouchEmulationEnabled", enabled=touch)

    def prefer(self, *, dark: bool) -> None:
        """What the reader's system prefers."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def screenshot(self, path: Path | None = None, *, whole: bool = True) -> bytes:
        """A PNG of the whole page, or of what the window shows."""
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        picture = base64.b64decode(data)
        if path is not None:
            path.write_bytes(picture)
        return picture

    def _on_event(self, method: str, event: dict[str, Any]) -> None:
        match method:
            case "Network.requestWillBeSent":
                self.requests.append(event["request"]["url"])
                if event.get("type") != "EventSource":  # which never ends
                    self._pending.add(event["requestId"])
            case "Network.webSocketCreated":
                self.requests.append(event["url"])
            case "Network.loadingFinished":
                self._pending.discard(event["requestId"])
            case "Network.loadingFailed":
                self._pending.discard(event["requestId"])
                self.problems.append(
                    f"request: {event['errorText']} {event.get('blockedReason', '')}".strip()
                )
            case "Page.loadEventFired":
                self._loaded = True
            case "Runtime.exceptionThrown":
                self.problems.append(f"exception: {_exception(event['exceptionDetails'])}")
            case "Runtime.consoleAPICalled" if event["type"] in {"error", "warning", "assert"}:
                words = [str(each.get("value", each.get("description", ""))) for each in event["args"]]
                self.problems.append(f"{event['type']}: {' '.join(words)}")
            case "Log.entryAdded" if event["entry"]["level"] in {"error", "warning"}:
                self.problems.append(f"{event['entry']['level']}: {event['entry']['text']}")


class _Process:
    """The browser's process, and the pipe to it: JSON messages, each ended by a NUL."""

    def __init__(self, path: str) -> None:
        self.listeners: dict[str, Callable[[str, dict[str, Any]], None]] = {}
        self._profile = tempfile.TemporaryDirectory(prefix="thatch-browser-", ignore_cleanup_errors=True)
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        # The browser reads from descriptor 3 and writes to 4. Ours may have any number, so a shell moves them,
        # by way of 8 and 9: one of ours may itself be 3 or 4.
        moving = f'exec 8<&{theirs_in} 9>&{theirs_out}; exec 3<&8 4>&9 8<&- 9>&-; exec "$0" "$@"'
        command = [
            "/bin/bash",
            "-c",
            moving,
            path,
            *_OPTIONS,
            f"--user-data-dir={self._profile.name}",
            "about:blank",
        ]
        self._log = Path(self._profile.name, "stderr.txt")
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=(theirs_in, theirs_out)
            )
        os.close(theirs_in)
        os.close(theirs_out)
        self._buffer = bytearray()
        self._answers: dict[int, dict[str, Any]] = {}
        self._asked = 0

    def call(self, method: str, session: str = "", /, **parameters: Any) -> dict[str, Any]:
        """Send one command and wait for its answer; what happens meanwhile goes to the pages."""
        self._asked += 1
        number = self._asked
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._out, data) :]
        self.wait(lambda: number in self._answers, f"an answer to {method}")
        answer = self._answers.pop(number)
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error'].get('message', answer['error'])}")
        return dict(answer["result"])

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        """Read messages until the condition holds."""
        end = time.monotonic() + _SECONDS
        while not condition():
            if time.monotonic() > end:
                raise BrowserError(f"waited {_SECONDS:.0f} seconds for {what}")
            self._read(end - time.monotonic())

    def listen(self, seconds: float) -> None:
        """Read messages for a while."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._read(left)

    def close(self) -> None:
        """End the browser; without this it ends when the pipe does, but may still be writing to its profile."""
        with suppress(BrowserError, OSError):
            self.call("Browser.close")
        os.close(self._out)
        os.close(self._in)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._profile.cleanup()

    def _read(self, seconds: float) -> None:
        ready, _, _ = select.select([self._in], [], [], max(seconds, 0))
        if not ready:
            return
        data = os.read(self._in, 1 << 20)
        if not data:
            raise BrowserError(f"the browser has ended: {self._log.read_text(errors='replace')[-2000:]}")
        self._buffer += data
        *messages, rest = self._buffer.split(b"\0")
        self._buffer = bytearray(rest)
        for text in messages:
            message = json.loads(text)
            if "id" in message:
                self._answers[message["id"]] = message
            elif listener := self.listeners.get(message.get("sessionId", "")):
                listener(message["method"], message["params"])


def _exception(details: dict[str, Any]) -> str:
    return str(details.get("exception", {}).get("description") or details.get("text"))
