"""The text of plotly.js, from the installed package plotly."""

from __future__ import annotations

from thatch.errors import MissingPackageError

__all__ = ["plotly_script"]


def plotly_script() -> str:
    """The whole library as one script.

    Raises
    ------
    MissingPackageError
        If plotly is not installed.
    """
    try:
        from plotly.offline import get_plotlyjs  # type: ignore[import-untyped]
    except ImportError as error:
        raise MissingPackageError("plotly", "spark", "figures in reports") from error
    return str(get_plotlyjs())
