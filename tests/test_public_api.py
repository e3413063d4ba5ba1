"""What `import thatch` gives: its names, their docstrings and examples, its errors, and what it does not load."""

from __future__ import annotations

import ast
import copy
import doctest
import importlib
import inspect
import pickle
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import thatch
from thatch import errors
from thatch.errors import ThatchError
from thatch.model.types import Line

SOURCE = Path(thatch.__file__).parent
MODULES = {  # by name, its file
    ".".join(file.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__"): file
    for file in sorted(SOURCE.rglob("*.py"))
}
ERRORS = [getattr(errors, name) for name in errors.__all__ if isinstance(getattr(errors, name), type)]

# --- names -----------------------------------------------------------------------------------------------------


def test_dir_shows_the_public_names_and_nothing_else():
    assert [name for name in dir(thatch) if not name.startswith("__")] == sorted(thatch.__all__)
    assert 30 <= len(thatch.__all__) <= 45


def test_a_name_is_reachable_exactly_if_it_is_public():
    for name in thatch.__all__:
        getattr(thatch, name)
    others = {name for name, value in vars(thatch).items() if not isinstance(value, ModuleType)}
    assert {name for name in others if not name.startswith("_")} == set(thatch.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Tired'"):
        thatch.Tired  # noqa: B018


def test_a_name_is_loaded_from_where_type_checkers_see_it():
    tree = ast.parse(Path(thatch.__file__).read_text())
    imports = {
        each.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for each in node.names
        if each.name in thatch.__all__
    }
    assert set(imports) == set(thatch.__all__)
    assert {
        name: module for name, module in imports.items() if module != "thatch.errors"
    } == thatch._MODULE_OF


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


def test_every_error_is_in_errors():
    known = set()
    pending: list[type] = [ThatchError]
    for module in MODULES:
        importlib.import_module(module)
    while pending:
        each = pending.pop()
        known.add(each)
        pending += each.__subclasses__()
    assert {each for each in known if not each.__name__.startswith("_")} == set(ERRORS)


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
    errors.MissingPackageError: ("scipy", "placement", "flows"),
    errors.FilterSyntaxError: ("a number", "`x`", "a = 1 and\nb = x", 14, "Perhaps `'x'`."),
    errors.NeverMatchesError: ("the conditions on x exclude each other",),
    errors.FilterTooLargeError: ("alternatives", 2_000, 1_024, "x"),
    errors.UnknownSubscriptionError: ("no-such-id",),
    ThatchError: ("something",),
}
SENTENCES: dict[type, str] = {  # where there is no value worth showing
    errors.MissingPackageError: r"The package scipy is needed for flows: pip install 'thatch\[placement\]'",
    errors.NeverMatchesError: r".*\bthe conditions on x exclude each other",
    errors.UnknownSubscriptionError: r".*'no-such-id'.*",
    ThatchError: "something",
}


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
def test_every_error_pickles_and_keeps_its_message_and_fields(kind):
    error = kind(*ARGUMENTS.get(kind, ("this", "that", "there")))
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(again) is kind
        assert str(again) == str(error)
        assert vars(again) == vars(error)
    assert re.fullmatch(SENTENCES.get(kind, r"Expected .+, got .+"), str(error), re.DOTALL)


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
def test_every_error_is_told_without_its_place_if_there_is_none(kind):
    if kind not in ARGUMENTS:
        assert str(kind("this", "that")) == "Expected this, got that"
        assert str(kind("this", "that", "there")) == "Expected this, got that - at there"


@pytest.mark.parametrize(
    "identity",
    ["\ud800", ["a"], 5, None, "x" * 1_000_000],
    ids=["surrogate", "list", "number", "none", "long"],
)
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
    show = "print(sorted({name.partition('.')[0] for name in sys.modules if name not in before}))"
    loaded = fresh("-c", f"import sys; before = set(sys.modules); import thatch; {show}")
    assert loaded == "['__future__', 'thatch']\n"
    loaded = fresh("-c", "import sys, thatch; print([name for name in sys.modules if name[:7] == 'thatch.'])")
    assert loaded == "['thatch.errors']\n"


def test_an_engine_of_few_subscriptions_loads_nothing_that_only_others_need():
    heavy = (
        "asyncio", "hypothesis", "llvmlite", "numba", "pandas", "polars", "pyarrow.compute", "pyspark", "rich", "sqlite3",
        "thatch.broker", "thatch.compiled", "thatch.matching.segments", "thatch.reduction", "thatch.runtime",
        "thatch.stores", "thatch.tiering", "typer",
    )  # fmt: skip
    use = "import sys, thatch; e = thatch.Engine(); e.subscribe('a', 'x > 1'); assert e.match({'x': 2}) == ['a']"
    assert fresh("-c", f"{use}; print([name for name in {heavy} if name in sys.modules])") == "[]\n"


def test_import_warns_of_nothing():
    assert fresh("-W", "error", "-c", "import thatch; print(thatch.__version__)") == f"{thatch.__version__}\n"


# --- examples in docstrings ------------------------------------------------------------------------------------


def examples_of(module: str) -> list[doctest.DocTest]:
    found = doctest.DocTestFinder().find(importlib.import_module(module))
    return [each for each in found if each.examples]


@pytest.mark.parametrize(
    "module", [name for name, file in MODULES.items() if ">>> " in file.read_text("utf-8")]
)
def test_the_examples_of_a_module_are_true(module):
    runner = doctest.DocTestRunner(verbose=False)
    told: list[str] = []
    examples = examples_of(module)
    assert examples
    for each in examples:
        runner.run(each, out=told.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(told)


def test_the_way_in_has_examples():
    with_examples = {each.name for each in (*examples_of("thatch"), *examples_of("thatch.model.language"))}
    assert {"thatch", "thatch.model.language.parse"} <= with_examples
