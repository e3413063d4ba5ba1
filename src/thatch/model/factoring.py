"""From an expression to its factored tree, in time that grows with what was written.

Negation is pushed to the conditions, each of which becomes a test of one attribute. Tests of one attribute are joined
where that says the same: under `or` those that list what may be, under `and` those that list what may not be. What
cannot hold beside the tests around it is dropped. The tree of a printed tree is the same tree again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from thatch.errors import FilterError, FilterTooLargeError
from thatch.model.conditions import (
    anywhere_check,
    constraint_of,
    formula_check,
    may_be_folded,
    pair_check,
)
from thatch.model.conjunctions import Conjunction, Dead, close, in_image, points_of
from thatch.model.expressions import (
    And,
    Compare,
    CompareFormulas,
    ComparePair,
    Constant,
    Expression,
    Matches,
    Not,
    Or,
    Unlike,
    Within,
)
from thatch.model.grouping import MAX_LEAVES, Alternatives, Gathered, Requirements, check_leaves, joined
from thatch.model.lines import (
    EMPTY,
    NUMBERS,
    PRESENT,
    TEXTS,
    WHOLE,
    Constraint,
    around,
    covers,
    difference,
    intersect,
    intersect_all,
    prefix_interval,
    union,
)
from thatch.model.names import ANYWHERE, base_of, split
from thatch.model.regexes import Pattern
from thatch.model.residuals import AnywhereCheck, WildcardCheck, WithinCheck
from thatch.model.schema import Schema, line_of, tighten
from thatch.model.shapes import LATITUDES, LONGITUDES
from thatch.model.text_ends import ends_of, is_reversed
from thatch.model.trees import ALWAYS, NEVER, AllOf, AnyOf, Tree, ValueTest, are_apart, excludes

__all__ = ["MAX_LEAVES", "factor", "tree_of"]

_MAX_DEPTH = 200
_MOST_TESTS = 10_000  # of single values against patterns
_MOST_CUTS = 1_000_000  # that are compared to see what excludes each other
_MANY = 4  # conditions: fewer are joined one by one
_NOTHING: Gathered = [], frozenset()
_NO_PATTERNS: frozenset[Pattern] = frozenset()


def factor(expression: Expression, schema: Schema | None = None) -> Tree:
    """The tree of an expression, `NEVER` if it is seen that no event can satisfy it.

    Raises
    ------
    FilterTooLargeError
        If a limit is passed; the message says the count.
    """
    tree = _Factoring(schema).tree(expression, 0, negated=False)
    check_leaves(tree)
    return tree


def tree_of(conjunctions: Sequence[Conjunction], schema: Schema | None) -> Tree:
    """The tree of a normal form."""
    work = _Factoring(schema)
    return work.any_of([work.all_of([*_tests_of(each), *_checks_of(each)]) for each in conjunctions])


def _tests_of(conjunction: Conjunction) -> Iterator[Tree]:
    for key, constraint in conjunction.constraints:
        yield ends_of(key, constraint) or ValueTest(key, constraint)


def _checks_of(conjunction: Conjunction) -> Iterator[Tree]:
    for check in conjunction.residuals:
        if isinstance(check, WildcardCheck):
            within = WHOLE if check.negated else EMPTY
            yield ValueTest(check.key, within, frozenset((check.pattern,)), check.negated)
        else:
            yield check


class _Factoring:
    """One expression on its way to a tree."""

    __slots__ = ("leaves", "schema")

    def __init__(self, schema: Schema | None) -> None:
        self.schema = schema
        self.leaves = 0

    def tree(self, expression: Expression, depth: int, *, negated: bool) -> Tree:
        """The tree of an expression or of its negation."""
        kind = type(expression)
        while kind is Not:
            expression, negated = expression.child, not negated  # type: ignore[attr-defined]  # a `Not` has one
            kind = type(expression)
        if depth > _MAX_DEPTH:
            raise FilterTooLargeError("levels of nesting", depth, _MAX_DEPTH)
        if kind is Compare and self.schema is None and expression.key[-1] != ")":  # type: ignore[attr-defined]  # it has one
            self._count(1)
            constraint = constraint_of(expression, negated)  # type: ignore[arg-type]  # it is one
            return ValueTest(expression.key, constraint) if constraint else NEVER  # type: ignore[attr-defined]  # the same
        if isinstance(expression, (And, Or)):
            return self._join(joined(expression), depth, is_all=(kind is And) != negated, negated=negated)
        if isinstance(expression, Constant):
            return ALWAYS if expression.value != negated else NEVER
        self._count(1)
        if isinstance(expression, Matches):
            if base_of(expression.key) == ANYWHERE:
                return _anywhere(expression, negated=negated)
            return self._like(expression.key, expression.pattern, TEXTS, negated=negated)
        if isinstance(expression, Unlike) and base_of(expression.key) != ANYWHERE:
            return self._like(expression.key, expression.pattern, PRESENT, negated=not negated)
        if isinstance(expression, Within):
            return self._within(expression, negated=negated)
        if isinstance(expression, ComparePair):
            return pair_check(expression, negated=negated)
        if isinstance(expression, CompareFormulas):
            check = formula_check(expression, negated=negated)
            return check if all(self._may_be_number(key) for key in check.keys) else NEVER
        return self._values(expression.key, constraint_of(expression, negated))  # type: ignore[attr-defined,arg-type]  # all other kinds

    def _join(self, conditions: Sequence[Expression], depth: int, *, is_all: bool, negated: bool) -> Tree:
        """The tree of all conditions, or of any; plain ones are gathered where nothing is known of their types."""
        gathered = _NOTHING
        is_known = self.schema is None and (is_all or not negated) and depth + 2 <= _MAX_DEPTH
        if is_known and len(conditions) >= _MANY:
            group = Requirements(conditions, negated=negated) if is_all else Alternatives(conditions)
            conditions, gathered = group.left, group.tests()
            self._count(group.count)
        children = [self.tree(each, depth + 1, negated=negated) for each in conditions]
        return self.all_of(children, gathered) if is_all else self.any_of(children, gathered)

    def _count(self, leaves: int) -> None:
        self.leaves += leaves
        if self.leaves > MAX_LEAVES:
            raise FilterTooLargeError("conditions", self.leaves, MAX_LEAVES)

    # --- conditions ------------------------------------------------------------------------------------------------

    def _values(self, key: str, constraint: Constraint) -> Tree:
        if self.schema is not None or key[-1] == ")":
            if base_of(key) == ANYWHERE:
                raise FilterError("`like`, `~`, `=` or `in` with text", "another condition", key)
            constraint = tighten(in_image(key, constraint), line_of(key, self.schema))
        if not constraint:
            return NEVER
        return self._ends(key, constraint) or ValueTest(key, constraint)

    def _ends(self, key: str, constraint: Constraint) -> Tree | None:
        """How a text ends or does not end, as a test of the text itself, which has types of its own."""
        found = ends_of(key, constraint)
        if found is None or self.schema is None:
            return found
        line = line_of(found.key, self.schema)
        within = tighten(found.hull(), line)
        if not tighten(TEXTS, line):
            others = tighten(difference(found.hull(), TEXTS), line)
            return ValueTest(found.key, others) if others else NEVER
        own = ValueTest(found.key, tighten(found.constraint, line), found.patterns, found.negated)
        return self._resolved(own, within)

    def _reversed_back(self, tree: Tree) -> Tree:
        if type(tree) is not ValueTest or tree.patterns:
            return tree
        return self._ends(tree.key, tree.constraint) or tree

    def _like(self, key: str, pattern: Pattern, within: Constraint, *, negated: bool) -> Tree:
        """Text of a pattern's form, or (negated) what is `within` and not of that form."""
        if self.schema is None and key[-1] != ")" and pattern.text[:1] == "%" != pattern.text:
            return ValueTest(key, within if negated else EMPTY, frozenset((pattern,)), negated)
        if pattern.literal is not None or pattern.is_prefix:
            found = (
                prefix_interval(pattern.prefix)
                if pattern.literal is None
                else around((6, pattern.literal, 0))
            )
            return self._values(key, difference(within, found) if negated else found)
        constraint = tighten(within, line_of(key, self.schema))
        if not negated and not tighten(TEXTS, line_of(key, self.schema)):
            return NEVER
        if "lower(" in key and "lower" in split(key)[0] and not may_be_folded(pattern):
            return ValueTest(key, constraint) if negated else NEVER  # folded text never begins or ends so
        own = ValueTest(key, constraint if negated else EMPTY, frozenset((pattern,)), negated)
        return self._resolved(own, constraint) if self.schema is not None else own

    def _within(self, condition: Within, *, negated: bool) -> Tree:
        latitudes, longitudes = (LATITUDES, LONGITUDES) if negated else condition.shape.bounds()
        return self.all_of(
            [
                self._values(condition.latitude, latitudes),
                self._values(condition.longitude, longitudes),
                WithinCheck(condition.latitude, condition.longitude, condition.shape, negated),
            ]
        )

    def _may_be_number(self, key: str) -> bool:
        return bool(tighten(NUMBERS, line_of(key, self.schema)))

    def _resolved(self, test: ValueTest, within: Constraint) -> Tree:
        """A test of a value that lies `within`; without patterns where that leaves few values to look at."""
        line = line_of(test.key, self.schema)
        if not test.patterns:
            return test
        places = points_of(within, line)
        if places is None or len(places) * len(test.patterns) > _MOST_TESTS:
            return test
        kept = [place for place in places if test.holds((place,))]
        return self._values(test.key, union(map(around, kept)))

    # --- or ----------------------------------------------------------------------------------------------------------

    def any_of(self, children: Iterable[Tree], gathered: Gathered = _NOTHING) -> Tree:
        """The disjunction of trees, and of tests that conditions on one attribute each were gathered to."""
        children = [*children, *gathered[0]]
        if not gathered[1] and are_apart(children):
            return AnyOf(frozenset(children)) if len(children) > 1 else children[0]
        tests: dict[str, list[ValueTest]] = {}
        others: set[Tree] = set()
        anywhere: dict[str, set[Pattern]] = {}
        for child in children:
            for each in child.children if type(child) is AnyOf else (child,):
                if type(each) is ValueTest:
                    tests.setdefault(each.key, []).append(each)
                elif type(each) is AnywhereCheck and not each.negated:
                    anywhere.setdefault(each.key, set()).update(each.patterns)
                else:
                    others.add(each)
        if ALWAYS in others:
            return ALWAYS
        others.update(AnywhereCheck.of(key, patterns) for key, patterns in anywhere.items())
        found: set[Tree] = set()
        for key, own in tests.items():
            is_one = len(own) == 1 and key not in gathered[1]
            found.update(own if is_one else self._any_of_one(key, own))
            if ALWAYS in found:
                return ALWAYS
        if any(map(is_reversed, found)):
            return self.any_of([*map(self._reversed_back, found), *others])
        # An alternative with more conditions adds nothing to one with fewer.
        found.update(
            each for each in others if not (type(each) is AllOf and not each.children.isdisjoint(found))
        )
        if len(found) == 1:
            return found.pop()
        return AnyOf(frozenset(found)) if found else NEVER

    def _one_of(self, test: ValueTest) -> Tree:
        """A test that lists what may be, without what it lists twice."""
        if test.constraint == WHOLE:
            return ALWAYS
        if test.patterns and covers(test.constraint, tighten(TEXTS, line_of(test.key, self.schema))):
            return ValueTest(test.key, test.constraint)
        return test

    def _any_of_one(self, key: str, tests: Sequence[ValueTest]) -> list[Tree]:
        """Tests of one attribute of which one must hold: what is listed together, and each exclusion of texts."""
        if len(tests) == 1:
            return [self._one_of(tests[0])]
        plain = union(
            difference(each.constraint, TEXTS) if each.negated else each.constraint for each in tests
        )
        patterns = _NO_PATTERNS.union(*(each.patterns for each in tests if not each.negated))
        if covers(plain, tighten(TEXTS, line_of(key, self.schema))):
            patterns = _NO_PATTERNS
            exclusions: set[tuple[Constraint, frozenset[Pattern]]] = set()
        else:
            texts = [(intersect(each.constraint, TEXTS), each.patterns) for each in tests if each.negated]
            exclusions = {each for each in texts if each[0]}
        if plain == WHOLE:
            return [ALWAYS]
        if len(exclusions) == 1 and not patterns and not intersect(plain, TEXTS):
            ((texts_left, excluded),) = exclusions
            return [ValueTest(key, union((plain, texts_left)), excluded, negated=True)]
        result: list[Tree] = [
            ValueTest(key, texts_left, each, negated=True) for texts_left, each in exclusions
        ]
        if plain or patterns:
            result.append(ValueTest(key, plain, patterns))
        return result

    # --- and ---------------------------------------------------------------------------------------------------------

    def all_of(self, children: Iterable[Tree], gathered: Gathered = _NOTHING) -> Tree:
        """The conjunction of trees, and of tests that conditions on one attribute each were gathered to."""
        children = [*children, *gathered[0]]
        several = gathered[1]
        if not several and are_apart(children):
            return AllOf(frozenset(children)) if len(children) > 1 else children[0]
        while True:
            tests: dict[str, list[ValueTest]] = {}
            others: set[Tree] = set()
            for child in children:
                for each in child.children if type(child) is AllOf else (child,):
                    if type(each) is ValueTest:
                        tests.setdefault(each.key, []).append(each)
                    else:
                        others.add(each)
            found: set[Tree] = set()
            for key, own in tests.items():
                is_one = len(own) == 1 and key not in several
                found.update(own if is_one else self._all_of_one(key, own))
            if any(map(is_reversed, found)):
                return self.all_of([*map(self._reversed_back, found), *others])
            checks = [each for each in others if type(each) is WithinCheck]
            if NEVER in found or NEVER in others or not self._may_hold(found, checks):
                return NEVER
            kept = [self._beside(each, found) if type(each) is AnyOf else each for each in others]
            children = [*found, *(each for each in kept if each is not ALWAYS)]
            if not any(type(each) is AllOf or type(each) is ValueTest or each == NEVER for each in kept):
                break  # else an alternative was left alone, and is a condition now
            several = frozenset()
        if len(children) == 1:
            return children[0]
        return AllOf(frozenset(children)) if children else ALWAYS

    def _all_of_one(self, key: str, tests: Sequence[ValueTest]) -> list[Tree]:
        """Tests of one attribute all of which must hold: what is excluded together, and each list of what may be."""
        within = intersect_all(
            [each.constraint for each in tests if each.negated or not each.patterns] or [WHOLE]
        )
        excluded = _NO_PATTERNS.union(*(each.patterns for each in tests if each.negated))
        texts = tighten(TEXTS, line_of(key, self.schema))
        if not intersect(within, texts):
            excluded = _NO_PATTERNS
        result: list[Tree] = []
        own = self._resolved(ValueTest(key, within, excluded, bool(excluded)), within)
        for each in dict.fromkeys(each for each in tests if each.patterns and not each.negated):
            patterns = each.patterns if intersect(within, texts) else _NO_PATTERNS
            narrow = ValueTest(key, intersect(each.constraint, within), patterns)
            if not patterns:
                return self._all_of_one(key, [narrow, *(other for other in tests if other is not each)])
            resolved = self._resolved(narrow, within)
            if resolved is not narrow:
                rest = [other for other in tests if other is not each]
                return [NEVER] if resolved == NEVER else self._all_of_one(key, [resolved, *rest])  # type: ignore[list-item]  # else it is a test
            result.append(narrow)
        if not within or own == NEVER:
            return [NEVER]
        is_said = bool(result) and not excluded and covers(within, texts)
        if not is_said and (excluded or within != WHOLE):
            result.append(own)
        return result

    def _may_hold(self, tests: Iterable[Tree], checks: Sequence[WithinCheck]) -> bool:
        """Whether an attribute and what is derived from it, or a check and its opposite, do not exclude each other."""
        constraints = {each.key: each.hull() for each in tests if type(each) is ValueTest}
        if not any(key[-1] == ")" for key in constraints) and len(checks) < 2:
            return True
        try:
            close(constraints, checks, self.schema)
        except Dead:
            return False
        return True

    def _beside(self, group: AnyOf, tests: set[Tree]) -> Tree:
        """Alternatives beside tests that hold as well: `ALWAYS` if they add nothing, without those that exclude them."""
        if not tests:
            return group
        if not group.children.isdisjoint(tests):
            return ALWAYS
        most = _MOST_CUTS // len(group.children)  # the rest is left as it is
        hulls = ((each.key, each.hull()) for each in tests if type(each) is ValueTest)
        known = {key: hull for key, hull in hulls if len(hull) <= most}
        if not known:
            return group
        left = [each for each in group.children if not excludes(each, known)]
        return group if len(left) == len(group.children) else self.any_of(left)


def _anywhere(condition: Matches, *, negated: bool) -> Tree:
    check = anywhere_check(condition.key, condition.pattern, negated=negated)
    if isinstance(check, bool):
        return ALWAYS if check else NEVER
    return check
