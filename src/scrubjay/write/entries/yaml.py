"""Front matter of entries: YAML that a person likes to read, and from which every character comes back.

Every field but `metadata` is read as it is written, so `title: no` and `domain: 1.10` are texts.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.text.front_matter import is_tame

_TYPED = "metadata"
_DEEPEST = 16  # levels of metadata that are written as YAML; the reader takes twice as many
_MOST_KEY_CHARS = 200  # YAML takes no key of more than 1024 unless it is marked as one
_MOST_LINE_CHARS = 80
_OPEN = (
    ("while parsing a flow sequence", "the list", "]"),
    ("while parsing a flow mapping", "the mapping", "}"),
    ("while scanning a quoted scalar", "the text in quotes", "the same quote"),
)
_WORDS = re.compile(r"(?:null|true|false|yes|no|on|off|y|n)", re.I)
_MARKS = re.compile(r": | #|:$")
_IN_LISTS = re.compile(r"[\[\]{},:?]")
# What a reader of YAML refuses, or takes for the end of a line.
_ODD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


class Plain(str):
    """A text that stands as it is: a number or a time that needs no quotes."""


def dump(fields: Mapping[str, Any]) -> str:
    """Return fields as YAML, one after the other, each ending its line."""
    return "".join(f"{_key(key)}:{_value(value, 1)}\n" for key, value in fields.items())


def load(block: str) -> dict[str, Any]:
    """Return the fields of a block: texts, lists and mappings of texts, and metadata as JSON has it."""
    import yaml

    loader_class = _loader()
    try:
        if not is_tame(block, loader_class):
            raise InvalidInput(
                "the front matter has anchors, tags or endless nesting; write it out"
            )
        loader = loader_class(block)
        try:
            node = loader.get_single_node()
            if node is None:
                return {}
            if not isinstance(node, yaml.MappingNode):
                raise InvalidInput(
                    "the front matter is not a list of fields; write them as name: value"
                )
            return dict(_fields(loader, node))
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise InvalidInput(f"the front matter is not YAML: {_wrong(error)}") from None
    except (ValueError, RecursionError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"the front matter cannot be read: {error}") from None


def _wrong(error: Exception) -> str:
    """Say what is wrong, in which line of the file, and what would be right."""
    context, begins = getattr(error, "context", None), getattr(error, "context_mark", None)
    for beginning, what, end in _OPEN:
        # A reader notices it some lines later, where nothing is wrong.
        if context == beginning and begins:
            return f"{what} that begins in line {begins.line + 2} is not closed; end it with {end}"
    mark = getattr(error, "problem_mark", None)
    where = f" in line {mark.line + 2}" if mark else ""
    what = getattr(error, "problem", None) or str(error)
    return f"{what}{where}; put the value in quotes"


@lru_cache(maxsize=1)
def _loader() -> Any:
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    resolvers = {
        first: [
            (tag, pattern) for tag, pattern in some if not tag.endswith((":timestamp", ":merge"))
        ]
        for first, some in base.yaml_implicit_resolvers.items()
    }
    # JSON has no dates: in metadata they stay the text that they are.
    return type("EntryLoader", (base,), {"yaml_implicit_resolvers": resolvers})


def _fields(loader: Any, node: Any) -> Any:
    seen: set[str] = set()
    for key_node, value_node in node.value:
        key = _as_written(key_node)
        if not isinstance(key, str):
            raise InvalidInput(f"the front matter has a field {key!r}; its name must be a word")
        if key in seen:
            raise InvalidInput(f"{key} is there twice in the front matter; keep one of them")
        seen.add(key)
        if key == _TYPED:
            yield key, _typed(loader.construct_object(value_node, deep=True))
        else:
            yield key, _as_written(value_node)


def _as_written(node: Any) -> Any:
    import yaml

    if isinstance(node, yaml.SequenceNode):
        return [_as_written(one) for one in node.value]
    if isinstance(node, yaml.MappingNode):
        return {str(_as_written(key)): _as_written(one) for key, one in node.value}
    return None if node.tag.endswith(":null") else node.value


def _typed(found: object) -> object:
    if not isinstance(found, str):
        return found
    try:
        return json.loads(found)
    except ValueError:
        return found  # whoever checks it says what metadata must be


def _value(value: Any, depth: int) -> str:
    """Return what stands after a colon or a dash, with what stands below it."""
    if depth == 1 and isinstance(value, Mapping) and not _fits(value):
        return f" {_quoted(json.dumps(value, ensure_ascii=False))}"
    indent = "\n" + "  " * depth
    if isinstance(value, Mapping) and value:
        lines = (f"{indent}{_key(key)}:{_value(one, depth + 1)}" for key, one in value.items())
        return "".join(lines)
    if isinstance(value, list) and value:
        if depth == 1 and all(isinstance(one, str) for one in value):
            short = f" [{', '.join(_in_list(one) for one in value)}]"
            if len(short) <= _MOST_LINE_CHARS:
                return short
        return "".join(f"{indent}-{_item(one, depth)}" for one in value)
    if isinstance(value, str) and not isinstance(value, Plain) and _is_block(value):
        chomp = "+" if value.endswith("\n\n") else "" if value.endswith("\n") else "-"
        text = value.removesuffix("\n") if chomp != "-" else value
        return f" |{chomp}" + "".join(
            f"{indent}{line}" if line else "\n" for line in text.split("\n")
        )
    return f" {_scalar(value)}"


def _item(value: Any, depth: int) -> str:
    if depth == 1 and isinstance(value, Mapping):  # a link on one line
        inside = ", ".join(f"{key}: {_in_list(one)}" for key, one in value.items())
        return f" {{{inside}}}"
    return _value(value, depth + 1)


def _fits(value: object, depth: int = 1) -> bool:
    """True when metadata can be written as YAML that we read again."""
    if isinstance(value, Mapping):
        short = all(isinstance(key, str) and len(key) <= _MOST_KEY_CHARS for key in value)
        return short and depth < _DEEPEST and all(_fits(one, depth + 1) for one in value.values())
    if isinstance(value, list):
        return depth < _DEEPEST and all(_fits(one, depth + 1) for one in value)
    return True


def _is_block(text: str) -> bool:
    """True for lines that can stand as they are, below their name."""
    if "\n" not in text or text[0] in " \t\n" or _ODD.search(text):
        return False
    lines = text.split("\n")
    if any(line.startswith("\t") or (line and not line.strip()) for line in lines):
        return False
    return not any(line.strip() in ("---", "...", "+++") for line in lines)


def _scalar(value: Any) -> str:
    match value:
        case Plain():
            return str(value)
        case str():
            return value if _is_plain(value) and not _MARKS.search(value) else _quoted(value)
        case bool():
            return "true" if value else "false"
        case None:
            return "null"
        case float():
            return _float(value)
        case int():
            return str(value)
    return "{}" if isinstance(value, Mapping) else "[]"


def _in_list(value: Any) -> str:
    if isinstance(value, str) and not isinstance(value, Plain) and _IN_LISTS.search(value):
        return _quoted(value)
    return _scalar(value)


def _key(key: str) -> str:
    return key if _is_plain(key) and not re.search(r"[^\w-]", key) else _quoted(key)


def _is_plain(text: str) -> bool:
    """True for what begins as a word and that no reader of YAML takes for a number, a date or a yes."""
    return (
        text[:1].isalpha()
        and text.isprintable()
        and text == text.strip()
        and not _WORDS.fullmatch(text)
        and not _ODD.search(text)
    )


def _quoted(text: str) -> str:
    escaped = json.dumps(text, ensure_ascii=False)
    return _ODD.sub(lambda odd: f"\\u{ord(odd[0]):04x}", escaped)


def _float(number: float) -> str:
    if not math.isfinite(number):
        return ".nan" if math.isnan(number) else ".inf" if number > 0 else "-.inf"
    digits, exponent, power = repr(number).partition("e")
    return digits + ("" if "." in digits else ".0") + exponent + power
