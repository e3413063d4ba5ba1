"""What `import thatch` gives: its names, their docstrings and examples, its errors, and what it does not load."""

from __future__ import annotations

import copy
import doctest
import importlib
import inspect
import pickle
import pkgutil
import re
import subprocess
import sys
from types import ModuleType
from typing import Any

import pytest

import thatch
from thatch import errors
from thatch.errors import ThatchError
from thatch.model.schema import Line

MODULES = ["thatch", *(each.name for each in pkgutil.walk_packages(thatch.__path__, "thatch."))]
ERRORS = [getattr(errors, name) for name in errors.__all__ if isinstance(getattr(errors, name), type)]

# --- names -----------------------------------------------------------------------------------------------------


def test_all_lists_exactly_what_is_exported():
    exported = {
        name
        for name, value in vars(thatch).items()
        if not name.startswith("_") and name != "annotations" and not isinstance(value, ModuleType)
    }
    late = set(thatch._LATE)
    assert set(thatch.__all__) == exported | late
    assert len(thatch.__all__) == len(exported) + len(late)


def test_what_is_loaded_late_is_what_its_room_has():
    assert thatch.TieredEngine is importlib.import_module("thatch.tiering").TieredEngine
    with pytest.raises(AttributeError, match="no attribute 'Tired'"):
        thatch.Tired  # noqa: B018


@pytest.mark.parametrize("name", thatch.__all__)
def test_every_public_name_is_documented(name):
    value = getattr(thatch, name)
    text = inspect.getdoc(value) or ""
    assert text
    assert not text.startswith(f"{name}(")  # what a dataclass without a docstring is given


@pytest.mark.parametrize("name", [name for name in thatch.__all__ if isinstance(getattr(thatch, name), type)])
def test_every_public_method_is_documented_or_described_by_what_it_overrides(name):
    kind = getattr(thatch, name)
    for each in vars(kind):
        if not each.startswith("_") and callable(getattr(kind, each)):
            assert inspect.getdoc(getattr(kind, each)) or inspect.getdoc(getattr(Line, each)), (
                f"{name}.{each}"
            )


def test_every_error_is_public_and_no_other_module_makes_one():
    known = set()
    pending: list[type] = [ThatchError]
    for module in MODULES:
        importlib.import_module(module)
    while pending:
        each = pending.pop()
        known.add(each)
        pending += each.__subclasses__()
    assert {each for each in known if not each.__name__.startswith("_")} == set(ERRORS)
    assert {each.__name__ for each in ERRORS} <= set(thatch.__all__)


# --- errors ----------------------------------------------------------------------------------------------------


def drawn_tree() -> set[tuple[str, str, str]]:
    """Name, parent and builtin base of each error in the picture at the top of errors.py."""
    result = set()
    above: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        found = re.match(r"    ((?:[│ ]   )*(?:[├└]── )?)([A-Z]\w+Error)(?: \((\w+)\))?(?: |$)", line)
        if found is None:
            continue
        branches, name, builtin = found.groups()
        depth = len(branches) // 4
        above = [*above[:depth], name]
        result.add((name, above[-2] if depth else "", builtin or ""))
    return result


def real_tree() -> set[tuple[str, str, str]]:
    result = set()
    for each in ERRORS:
        parents = [base.__name__ for base in each.__mro__[1:] if base in ERRORS]
        builtins = [
            base.__name__
            for base in each.__bases__
            if base.__module__ == "builtins" and base is not Exception
        ]
        result.add((each.__name__, parents[0] if parents else "", "".join(builtins)))
    return result


def test_the_drawn_tree_of_errors_is_the_real_one():
    assert drawn_tree() == real_tree()
    assert len(drawn_tree()) == len(ERRORS)


ARGUMENTS: dict[type, tuple[Any, ...]] = {
    errors.MissingPackageError: ("plotly", "spark", "figures"),
    errors.FilterSyntaxError: ("a number", "`x`", "a = 1 and\nb = x", 14, "Perhaps `'x'`."),
    errors.NeverMatchesError: ("the conditions on x exclude each other",),
    errors.FilterTooLargeError: ("alternatives", 2_000, 1_024, "x"),
    errors.UnknownSubscriptionError: ("no-such-id",),
    ThatchError: ("something",),
}


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
def test_every_error_pickles_and_keeps_its_message_and_fields(kind):
    error = kind(*ARGUMENTS.get(kind, ("this", "that", "there")))
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(again) is kind
        assert str(again) == str(error)
        assert vars(again) == vars(error)
    if kind is not ThatchError:
        assert re.match(r"Expected .+, got .+", str(error))


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
def test_every_error_is_told_without_its_place_if_there_is_none(kind):
    if kind not in ARGUMENTS:
        assert str(kind("this", "that")) == "Expected this, got that"
        assert str(kind("this", "that", "there")) == "Expected this, got that - at there"


@pytest.mark.parametrize("identity", ["\ud800", ["a"], 5, None, "x" * 1_000_000])
def test_an_unknown_id_of_any_kind_can_be_told(identity):
    with pytest.raises(KeyError) as caught:
        thatch.Engine().unsubscribe(identity)
    assert len(str(caught.value).encode()) < 200
    assert pickle.loads(pickle.dumps(caught.value)).subscription == identity


# --- a fresh process -------------------------------------------------------------------------------------------


def fresh(*arguments: str) -> str:
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=100, check=True
    ).stdout  # fmt: skip


def test_import_loads_nothing_that_only_some_people_need():
    heavy = ("pandas", "polars", "typer", "rich", "numba", "llvmlite", "hypothesis", "pyspark", "sqlite3")
    loaded = fresh("-c", f"import sys, thatch; print([name for name in {heavy} if name in sys.modules])")
    assert loaded == "[]\n"


def test_import_warns_of_nothing():
    assert fresh("-W", "error", "-c", "import thatch; print(thatch.__version__)") == f"{thatch.__version__}\n"


# --- examples in docstrings ------------------------------------------------------------------------------------


def examples_of(module: str) -> list[doctest.DocTest]:
    found = doctest.DocTestFinder().find(importlib.import_module(module))
    return [each for each in found if each.examples]


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_of_a_module_are_true(module):
    runner = doctest.DocTestRunner(verbose=False)
    told: list[str] = []
    for each in examples_of(module):
        runner.run(each, out=told.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(told)


def test_the_way_in_has_examples():
    with_examples = {each.name for each in (*examples_of("thatch"), *examples_of("thatch.model.language"))}
    assert {"thatch", "thatch.model.language.parse"} <= with_examples
