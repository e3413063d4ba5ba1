"""The browser for tests of pages."""

from __future__ import annotations

from tests.integration.browser import browser, browser_process

__all__ = ["browser", "browser_process"]
