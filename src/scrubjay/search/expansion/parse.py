"""Parse the answer of a language model into an Expansion: JSON, or lines such as `lex: …`.
Small models often miss details of the format. What is clear is used, nothing is invented, and an
answer without anything usable is Unavailable, so that the search goes on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from scrubjay.errors import Unavailable
from scrubjay.search.expansion import Expansion
from scrubjay.search.expansion.prompts import EXAMPLES, MOST_VARIANTS
from scrubjay.text.analysis import normalize, valid_unicode, words
from scrubjay.text.loose_json import Cut, objects, value, without_thoughts

_MOST_READ_CHARS = 200_000
_LEAST_CUT_HYDE_BYTES = 20  # seven characters of Chinese say as much as four words
# By the start of a key, in English and German: lexical_queries, Keywords, vec, semantisch, hyde_passage.
_FIELDS = (
    ("lexical", ("lex", "keyword", "bm25", "stichw")),
    ("semantic", ("vec", "semanti", "variant", "paraphras", "rephras")),
    ("hyde", ("hyde", "hypothe", "passage")),
)
_TEXT_KEYS = ("query", "text", "value", "variant", "phrase", "keyword", "passage", "content", "q")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
_BULLET = re.compile(r"[-*•–·]\s+")
_NUMBER = re.compile(r"\(?(\d{1,3})[.):]\s+")
_PLACEHOLDER = re.compile(
    r"(?:(?:lexical|semantic|keyword|search|hypothetical|your) ?)?"
    r"(?:strings?|quer(?:y|ies)|variants?|keywords?|passage|placeholder|none|null|n/a) ?\d{0,3}"
)
_LINE = re.compile(
    r"[\s>#*•\-\d.)]{0,12}(\w{2,20}+(?:[ _-]\w{1,20}+)?)"  # a bullet, and a name of one or two words
    r"(?:\s?\([^()\n]{0,60}\))?[*_`]{0,3}[:：][*_`]{0,3}(.*)"
)
_ONE_LINE = re.compile(r"[;；、，]|,\s")
_SENTENCE_END = re.compile(r"[.!?…](?=[\s\"”»)]|\Z)|[。！？؟।]")
_WORD_END = re.compile(r"\s|(?<=[，、；：])")


def parse(
    answer: str,
    *,
    most_lexical: int = MOST_VARIANTS,
    most_semantic: int = MOST_VARIANTS,
    most_chars: int = 300,
    most_hyde_chars: int = 2_000,
) -> Expansion:
    """Return the variants in an answer, up to a number of each kind, or raise Unavailable.
    Of a truncated answer the complete items are used, and the passage up to its last sentence."""
    for text in without_thoughts(answer):
        for fields in _candidates(text[:_MOST_READ_CHARS]):
            found = Expansion(
                _variants(fields.get("lexical", ()), most_lexical, most_chars),
                _variants(fields.get("semantic", ()), most_semantic, most_chars),
                _passage(fields.get("hyde", ()), most_hyde_chars),
            )
            if any(found):
                return found
    shown = _clean(answer[:80])
    raise Unavailable(
        f"the answer of the expansion model contains no variant of the query: {shown!r}; use a model"
        " that can answer in JSON"
        if shown
        else "the answer of the expansion model is empty; raise its token limit or use another model"
    )


def _candidates(text: str) -> Iterator[dict[str, list[str]]]:
    """Yield the fields of each JSON object, outer ones first, then those of plain lines."""
    for found in objects(text):
        yield from map(_fields, _nested(found, 0))
    yield _lines(text)


def _nested(found: Any, depth: int) -> Iterator[dict[str, Any]]:
    if isinstance(found, dict):
        yield found
    if depth < 4 and isinstance(found, dict | list):
        for inner in found.values() if isinstance(found, dict) else found:
            yield from _nested(inner, depth + 1)


def _fields(found: dict[str, Any]) -> dict[str, list[str]]:
    fields: dict[str, list[str]] = {}
    for key, given in found.items():
        if field := _field(key[:40]):
            texts = [given] if isinstance(given, str) else list(_texts(given))
            if field != "hyde":
                texts = [text for text in texts if not isinstance(text, Cut)]
                if isinstance(given, str):
                    texts = [item for text in texts for item in _split(text, field)]
                texts = [_without_number(text, place) for place, text in enumerate(texts, 1)]
            fields.setdefault(field, []).extend(texts)
    return fields


@lru_cache(maxsize=256)
def _field(key: str) -> str:
    """Return which part of an expansion a key means, or ""."""
    bare = re.sub(r"[\W_]+", "", key).casefold()
    return next((field for field, begins in _FIELDS if bare.startswith(begins)), "")


def _texts(given: Any) -> Iterator[str]:
    """Yield the texts of a list, of {"query": …} and of {"1": …}; an echoed schema has none."""
    if isinstance(given, str):
        yield given
    elif isinstance(given, list):
        for item in given:
            yield from _texts(item)
    elif isinstance(given, dict):
        named = [given[key] for key in _TEXT_KEYS if isinstance(given.get(key), str)]
        if named:
            yield named[0]
            return
        for key, item in given.items():
            if key.strip().isdecimal():
                yield from _texts(item)


def _split(text: str, field: str) -> list[str]:
    """Split a string that should be a list: by line, keywords also by comma."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) == 1 and field == "lexical" and '"' not in text:
        return [part for part in _ONE_LINE.split(text) if part.strip()]
    return lines


def _without_number(text: str, place: int) -> str:
    """Remove a bullet, or a number that is the item's place in the list; "2. Weltkrieg" stays elsewhere."""
    bare = text.strip()
    if bullet := _BULLET.match(bare):
        bare = bare[bullet.end() :]
    number = _NUMBER.match(bare)
    return bare[number.end() :] if number and int(number[1]) == place else bare


def _lines(text: str) -> dict[str, list[str]]:
    """Return the fields of plain lines: `lex: …`, or a heading with its items below."""
    fields: dict[str, list[str]] = {}
    field = ""
    for line in text.split("\n"):
        head = _LINE.match(line)
        named = _field(head[1]) if head else ""
        if head and named:
            field, rest = named, head[2].strip()
            given = value(rest) if rest.startswith(("[", '"')) else None
            found = list(_texts(given)) or ([rest] if rest else [])
        elif field == "hyde" or _BULLET.match(line.strip()) or _NUMBER.match(line.strip()):
            found = [line]
        else:
            field, found = field if not line.strip() else "", []
        if field and found:
            items = fields.setdefault(field, [])
            start = 1 if named else len(items) + 1
            items.extend(_without_number(item, start + at) for at, item in enumerate(found))
    if "hyde" in fields:
        fields["hyde"] = [" ".join(line for line in fields["hyde"] if line.strip("`~|>= "))]
    return fields


def _variants(texts: Sequence[str], most: int, most_chars: int) -> tuple[str, ...]:
    kept: dict[str, str] = {}
    for text in texts:
        if len(kept) >= most:
            break
        item = _shortened(_clean(text[: 4 * most_chars]), most_chars)
        if _usable(item, _echoes()):
            kept.setdefault(item.casefold(), item)
    return tuple(kept.values())


def _passage(texts: Iterable[str], most_chars: int) -> str:
    for text in texts:
        cut = isinstance(text, Cut)
        passage = _clean(text[: 4 * most_chars])
        passage = _shortened(_to_an_end(passage) if cut else passage, most_chars)
        folded, examples = passage.casefold(), [example.hyde.casefold() for example in EXAMPLES]
        copied = folded in examples or (
            cut and any(example.startswith(folded) for example in examples)
        )
        too_short = cut and len(passage.encode()) < _LEAST_CUT_HYDE_BYTES
        if not copied and not too_short and _usable(passage, ()):
            return passage
    return ""


def _usable(item: str, echoes: Iterable[str]) -> bool:
    """False for an item without words, a placeholder, or an item copied from our example."""
    folded = item.casefold()
    bare = folded.strip("<>[]{}. ").replace("_", " ")
    return (
        any(word.strip("_") for word in words(item))
        and not _PLACEHOLDER.fullmatch(bare)
        and folded not in echoes
    )


@lru_cache(maxsize=1)
def _echoes() -> frozenset[str]:
    return frozenset(
        normalize(item).casefold()
        for example in EXAMPLES
        for item in (*example.lexical, *example.semantic)
    )


def _clean(text: str) -> str:
    return normalize(_CONTROLS.sub(" ", valid_unicode(text)))


def _shortened(text: str, most_chars: int) -> str:
    return text if len(text) <= most_chars else _to_an_end(text[: most_chars + 1])[:most_chars]


def _to_an_end(text: str) -> str:
    """Cut a text at the end of a sentence, or else of a word, if one ends in its second half.
    Chinese and Thai do not mark words: there only the last character is dropped."""
    for end in (_SENTENCE_END, _WORD_END):
        places = [match.end() for match in end.finditer(text)]
        if places and places[-1] >= len(text) // 2:
            return text[: places[-1]].strip()
    return text[:-1].strip()
