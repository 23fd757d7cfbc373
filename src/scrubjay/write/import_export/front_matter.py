"""YAML front matter of entries: every character that is written is read back.

All fields but `metadata` are read as text, so `title: no` and `domain: 1.10` are texts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from functools import lru_cache
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.text.front_matter import is_safe_yaml

_TYPED = "metadata"
_DEEPEST = 16  # levels of metadata that are written as YAML; the reader accepts twice as many
_MOST_LINE_CHARS = 80
_TAG = "tag:yaml.org,2002:"
_LINE_BREAKS = re.compile("[\n\x85\u2028\u2029]")
# Lines that a literal block would not give back, or that end the front matter.
_NO_BLOCK = re.compile(
    r"\A\s|[\x85\u2028\u2029]|^\t|^[ \t]+$|^[ \t]*(?:---|\.\.\.|\+\+\+)\s*$|\n\n\Z", re.M
)
_UNCLOSED = {
    "while parsing a flow sequence": ("list", "]"),
    "while parsing a flow mapping": ("mapping", "}"),
    "while scanning a quoted scalar": ("text in quotes", "the same quote"),
}


class _InlineList(list[Any]):
    pass


class _InlineDict(dict[str, Any]):
    pass


def dump(fields: Mapping[str, Any]) -> str:
    """Return fields as YAML, one after the other, each ending its line."""
    import yaml

    styled = {name: _styled(value) for name, value in fields.items()}
    return yaml.dump(
        styled, Dumper=_dumper(), allow_unicode=True, sort_keys=False, width=float("inf")
    )


def _styled(value: Any) -> Any:
    """Put short lists of texts on one line, and each link; write deep metadata as JSON."""
    if isinstance(value, list):
        are_texts = all(isinstance(item, str) for item in value)
        if are_texts and sum(len(item) + 2 for item in value) < _MOST_LINE_CHARS:
            return _InlineList(value)
        return [_InlineDict(item) if isinstance(item, dict) else item for item in value]
    if isinstance(value, Mapping) and _is_deep(value):
        return json.dumps(value, ensure_ascii=False)
    return value


def _is_deep(value: object, depth: int = 1) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return depth > _DEEPEST or any(_is_deep(item, depth + 1) for item in inner)


@lru_cache(maxsize=1)
def _dumper() -> Any:
    import yaml

    # Not the C dumper: it escapes emoji, so that a person could not read them.
    class EntryDumper(yaml.SafeDumper):
        def ignore_aliases(self, data: object) -> bool:
            return True

        def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
            super().increase_indent(flow, indentless=False)

    def text(dumper: Any, value: str) -> Any:
        has_breaks = _LINE_BREAKS.search(value)
        style = None if not has_breaks else '"' if _NO_BLOCK.search(value) else "|"
        return dumper.represent_scalar(f"{_TAG}str", value, style)

    def moment(dumper: Any, value: datetime) -> Any:
        return dumper.represent_scalar(
            f"{_TAG}timestamp", value.replace(tzinfo=None).isoformat() + "Z"
        )

    EntryDumper.add_representer(str, text)
    EntryDumper.add_representer(datetime, moment)
    EntryDumper.add_representer(
        _InlineList, lambda dumper, value: dumper.represent_sequence(f"{_TAG}seq", value, True)
    )
    EntryDumper.add_representer(
        _InlineDict, lambda dumper, value: dumper.represent_mapping(f"{_TAG}map", value, True)
    )
    return EntryDumper


def load(block: str) -> dict[str, Any]:
    """Return the fields of a block: texts, lists and mappings of texts, and metadata as JSON values."""
    import yaml

    loader_class = _loader()
    try:
        if not is_safe_yaml(block, loader_class):
            raise InvalidInput(
                "the front matter has anchors, tags or is nested too deeply; write plain values"
            )
        loader = loader_class(block)
        try:
            node = loader.get_single_node()
            if node is None:
                return {}
            if not isinstance(node, yaml.MappingNode):
                raise InvalidInput(
                    "the front matter has no field names; write each field as name: value"
                )
            return dict(_fields(loader, node))
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise InvalidInput(f"the front matter is not YAML: {_explain(error)}") from None
    except InvalidInput:
        raise
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"the front matter cannot be read: {error}") from None


def _explain(error: Any) -> str:
    """Return what is wrong, the line in the file, and what would be right."""
    start = getattr(error, "context_mark", None)
    # The parser notices a missing bracket some lines later: name the line where it opens.
    if start and (unclosed := _UNCLOSED.get(error.context)):
        what, end = unclosed
        return f"the {what} that begins in line {start.line + 2} is not closed; end it with {end}"
    mark = getattr(error, "problem_mark", None)
    line = f" in line {mark.line + 2}" if mark else ""
    return f"{getattr(error, 'problem', None) or error}{line}; put the value in quotes"


@lru_cache(maxsize=1)
def _loader() -> Any:
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    # JSON has no dates: in metadata they stay text.
    resolvers = {
        first: [pair for pair in pairs if not pair[0].endswith((":timestamp", ":merge"))]
        for first, pairs in base.yaml_implicit_resolvers.items()
    }
    return type("EntryLoader", (base,), {"yaml_implicit_resolvers": resolvers})


def _fields(loader: Any, node: Any) -> Iterator[tuple[str, Any]]:
    seen: set[str] = set()
    for key_node, value_node in node.value:
        key = _as_text(key_node)
        if not isinstance(key, str):
            raise InvalidInput(f"the front matter has a field {key!r}; its name must be a word")
        if key in seen:
            raise InvalidInput(f"the front matter has {key} twice; remove one of them")
        seen.add(key)
        if key == _TYPED:
            yield key, _parsed(loader.construct_object(value_node, deep=True))
        else:
            yield key, _as_text(value_node)


def _as_text(node: Any) -> Any:
    import yaml

    if isinstance(node, yaml.SequenceNode):
        return [_as_text(item) for item in node.value]
    if isinstance(node, yaml.MappingNode):
        return {str(_as_text(key)): _as_text(value) for key, value in node.value}
    return None if node.tag.endswith(":null") else node.value


def _parsed(metadata: object) -> object:
    with suppress(ValueError):  # `draft` reports what metadata must be
        return json.loads(metadata) if isinstance(metadata, str) else metadata
    return metadata
