"""What Sigma rules mean, slowly and from the specification alone: neither pySigma nor Thatch has a part in it.

`holds(rule, event)` takes a rule as an object, as YAML gives it. Values are texts without case; text is a list of characters
and of the two wildcards.
"""

from __future__ import annotations

import base64
import re
from ipaddress import ip_address, ip_network
from itertools import product

MANY, ONE = object(), object()  # `*` and `?`
DASHES = "-/\u2013\u2014\u2015"
ORDERS = {"lt": float.__lt__, "lte": float.__le__, "gt": float.__gt__, "gte": float.__ge__}
ENCODINGS = {"wide": ("", "utf-16-le"), "utf16": ("\ufeff", "utf-16-le"), "utf16be": ("", "utf-16-be")}


def holds(rule, event):
    """Whether one of the conditions of a rule holds on an event."""
    detection = rule["detection"]
    conditions = detection["condition"]
    conditions = [conditions] if isinstance(conditions, str) else conditions
    return any(_Condition(each, detection, event).value() for each in conditions)


# --- conditions ------------------------------------------------------------------------------------------------------


class _Condition:
    """`or` of `and` of `not` of names, of `1 of NAMES*` and of parentheses."""

    def __init__(self, text, detection, event):
        self.words = re.findall(r"[()]|[^\s()]+", text)
        self.detection, self.event = detection, event

    def value(self):
        found = self._any()
        assert not self.words, self.words
        return found

    def _any(self):
        found = [self._all()]
        while self._take("or"):
            found.append(self._all())
        return any(found)

    def _all(self):
        found = [self._one()]
        while self._take("and"):
            found.append(self._one())
        return all(found)

    def _one(self):
        if self._take("not"):
            return not self._one()
        if self._take("("):
            found = self._any()
            assert self._take(")")
            return found
        word = self.words.pop(0)
        if self.words[:1] == ["of"]:
            self.words.pop(0)
            pattern = self.words.pop(0).replace("them", "*")
            names = [
                each for each in self.detection if each != "condition" and self._is_called(each, pattern)
            ]
            quantifier = {"1": any, "any": any, "all": all}[word]
            return quantifier(_detected(self.detection[each], self.event) for each in names)
        return _detected(self.detection[word], self.event)

    @staticmethod
    def _is_called(name, pattern):
        hidden = name.startswith("_") and not pattern.startswith("_")
        return not hidden and re.fullmatch(pattern.replace("*", ".*"), name) is not None

    def _take(self, word):
        if self.words[:1] == [word]:
            self.words.pop(0)
            return True
        return False


def _detected(detection, event):
    """A list: one of them. An object: all of its fields. Anything else: a keyword."""
    if isinstance(detection, list):
        return any(_detected(each, event) for each in detection)
    if not isinstance(detection, dict):
        return _keyword([detection], [], event, any)
    return all(_item(key, value, event) for key, value in detection.items())


def _item(key, given, event):
    name, *modifiers = key.split("|")
    values = given if isinstance(given, list) else [given]
    quantifier = all if "all" in modifiers else any
    if not name:
        found = _keyword(values, modifiers, event, quantifier)
    elif not values:
        found = _get(event, name) is None
    else:
        found = quantifier(_compares(name, modifiers, each, event) for each in values)
    return found != ("neq" in modifiers)


def _keyword(values, modifiers, event, quantifier):
    """Some text of the event contains each value, or one of them."""
    return quantifier(any(_contains(text, each, modifiers) for text in _texts(event)) for each in values)


def _contains(text, wanted, modifiers):
    if "re" in modifiers:
        return _is_found(wanted, text, modifiers)
    forms = _modified(_characters(str(wanted)), modifiers)
    return any(
        _equals(text, [MANY, *form, MANY], is_cased="cased" in modifiers, is_text=True) for form in forms
    )


def _texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)


# --- values ----------------------------------------------------------------------------------------------------------


def _get(event, name):
    if name in event:
        return event[name]
    head, dot, rest = name.partition(".")
    return _get(event[head], rest) if dot and isinstance(event.get(head), dict) else None


def _has(event, name):
    head, dot, rest = name.partition(".")
    return name in event or bool(dot and isinstance(event.get(head), dict) and _has(event[head], rest))


def _compares(name, modifiers, wanted, event):
    value = _get(event, name)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if "exists" in modifiers:
        return _has(event, name) == wanted
    if wanted is None:
        return value is None
    if value is None:
        return False
    for each, compare in ORDERS.items():
        if each in modifiers:
            return is_number and compare(float(value), float(wanted))
    if "cidr" in modifiers:
        return isinstance(value, str) and _is_inside(value, wanted)
    if "re" in modifiers:
        flags = sum(
            {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}.get(each, 0) for each in modifiers
        )
        return isinstance(value, str) and re.search(wanted, value, flags) is not None
    if "fieldref" in modifiers:
        return _refers(value, _get(event, wanted))
    if isinstance(wanted, (bool, int, float)):
        return _is_same(value, wanted)
    forms = _modified(_characters(wanted), modifiers)
    return any(_equals(value, form, is_cased="cased" in modifiers) for form in forms)


def _is_same(value, wanted):
    if isinstance(value, str):
        return value.casefold() == str(wanted).lower()
    return isinstance(value, bool) == isinstance(wanted, bool) and value == wanted


def _is_found(wanted, text, modifiers):
    flags = sum({"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}.get(each, 0) for each in modifiers)
    return re.search(wanted, text, flags) is not None


def _refers(value, other):
    if isinstance(value, str) and isinstance(other, str):
        return value.casefold() == other.casefold()
    kinds = [
        bool if isinstance(each, bool) else str if isinstance(each, str) else float for each in (value, other)
    ]
    return other is not None and kinds[0] is kinds[1] and value == other


def _equals(value, form, *, is_cased, is_text=False):
    if not is_text and form and all(each is MANY for each in form):
        return True
    if isinstance(value, str):
        return _like(form, value) if is_cased else _like(_fold(form), value.casefold())
    if is_cased or MANY in form or ONE in form:
        return False
    text = "".join(form)
    return text.casefold() == str(value).lower() if isinstance(value, bool) else _is_number(text, value)


def _is_number(text, value):
    return re.fullmatch("-?(0|[1-9][0-9]*)", text) is not None and int(text) == value


def _is_inside(value, network):
    try:
        return ip_address(value) in ip_network(network)
    except ValueError:
        return False


# --- texts with wildcards ----------------------------------------------------------------------------------------------


def _characters(text):
    """A backslash makes `*`, `?` and a backslash plain, and is plain before everything else."""
    found, at = [], 0
    while at < len(text):
        if text[at] == "\\" and text[at + 1 : at + 2] in ("*", "?", "\\"):
            at += 1
            found.append(text[at])
        else:
            found.append({"*": MANY, "?": ONE}.get(text[at], text[at]))
        at += 1
    return found


def _fold(form):
    return [each for part in form for each in (part.casefold() if isinstance(part, str) else [part])]


def _like(form, text):
    """Whether a text has a form: which beginnings of the form match the text so far."""
    reached = {0}
    for character in [*text, None]:
        for at in sorted(reached):
            while at < len(form) and form[at] is MANY:
                at += 1
                reached.add(at)
        if character is None:
            return len(form) in reached
        reached = {
            at + (form[at] is not MANY)
            for at in reached
            if at < len(form) and (form[at] is MANY or form[at] is ONE or form[at] == character)
        }
    return False


def _modified(form, modifiers):
    """The forms that the modifiers make of one, of which any may match."""
    forms = [form]
    for each in modifiers:
        forms = [made for form in forms for made in _modify(form, each)]
    return forms


def _modify(form, modifier):
    if modifier in ("contains", "startswith", "endswith"):
        return [[MANY] * (modifier != "startswith") + form + [MANY] * (modifier != "endswith")]
    if modifier in ENCODINGS:
        mark, encoding = ENCODINGS[modifier]
        parts = [[*each.encode(encoding).decode()] if isinstance(each, str) else [each] for each in form]
        return [[*mark, *(each for part in parts for each in part)]]
    if modifier == "base64":
        return [[*base64.b64encode("".join(form).encode()).decode()]]
    if modifier == "base64offset":
        return [_at_offset("".join(form).encode(), offset) for offset in range(3)]
    if modifier == "windash":
        places = [at for at in range(len(form)) if form[at] in ("-", "/") and _is_option(form, at)]
        return [
            [chosen[places.index(at)] if at in places else each for at, each in enumerate(form)]
            for chosen in product(DASHES, repeat=len(places))
        ]
    return [form]


def _is_option(form, at):
    """Whether a dash stands before a word, and not behind one."""
    around = [isinstance(each, str) and re.match(r"\w", each) is not None for each in form]
    return at + 1 < len(form) and around[at + 1] and not (at and around[at - 1])


def _at_offset(data, offset):
    """The letters of base64 that are sure wherever the bytes stand behind `offset` others, and before any others."""
    encoded = {
        base64.b64encode(before * offset + data + after).decode()
        for before in (b"\0", b"\xff")
        for after in (b"\0\0\0", b"\xff\xff\xff")
    }
    first = next(iter(encoded))
    return [
        letter
        for at, letter in enumerate(first)
        if all(each[at] == letter for each in encoded) and at * 6 < (offset + len(data)) * 8
    ]
