"""Guardrails for query variants: keep exact terms, add no exclusions, stay near the query."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import groupby

from scrubjay.search.expansion import Expansion
from scrubjay.text.analysis import (
    STOP_WORDS,
    fold,
    is_unspaced,
    normalize,
    query_tokens,
    stemmer_for,
    whole_and_parts,
    without_stop_words,
    words,
)
from scrubjay.text.languages import STEMMERS
from scrubjay.text.query_syntax import (
    folded_stop_words,
    operator_kind,
    operator_text,
    operators_in,
    parse_query,
)

_MOST_KEPT = 64  # the number of words of a query that count
_QUOTES = re.compile('["“”„«»「」『』]')
# Splits code in a question: `foo(bar)` is two names, and 1,000 is one number.
_APART = re.compile(
    r"""(?:[^\s()\[\]{}<>"'’‘“”„«»「」『』`=|*!?;,，。、；：？！（）…–—]|(?<=\d),(?=\d))+"""
)
_IN_NAMES = frozenset("_./\\:@+#&")
_BEFORE_NAMES = frozenset("./\\~@$#")

_Sign = tuple[bool, str, str]


def must_keep(query: str) -> tuple[str, ...]:
    """Return what each variant must contain, as written: "phrases", -negations, prefixes*, identifiers.
    A query of negations only is searched literally, so there is nothing to keep."""
    if parse_query(query).literal:
        return ()
    kept: dict[object, str] = {}
    end = 0
    for sign in operators_in(query):
        for name in _identifiers(query[end : sign.start()]):
            kept.setdefault(fold(name), name)
        if words(operator_text(sign)):
            kept.setdefault(_key(sign), sign.group().rstrip(".,;:!?"))
        end = sign.end()
    for name in _identifiers(query[end:]):
        kept.setdefault(fold(name), name)
    return tuple(kept.values())[:_MOST_KEPT]


def guarded(
    expansion: Expansion,
    query: str,
    *,
    language: str,
    cosine: Callable[[str], float | None],
    least_cosine: float = 0.3,
) -> tuple[Expansion, tuple[str, ...]]:
    """Return a corrected expansion, and sentences that describe the changes.
    Keyword variants get the terms of `must_keep` that they lack, and lose operators that the query
    does not have. A variant that shares no stem with the query is dropped if its `cosine` is known
    and under `least_cosine`. `language` is that of the query; if it is "", stems of any language
    may match."""
    notes: list[str] = []
    keep = must_keep(query)
    signs = frozenset(_key(sign) for kept in keep for sign in operators_in(kept))
    meant = parse_query(query).meaning
    lexical: dict[str, str] = {}
    for given in expansion.lexical:
        variant = _without_signs(given, signs)
        if variant != normalize(given):
            notes.append(
                f"lexical variant {given!r}: operators that the query does not have were removed"
            )
        if _says_nothing(variant) or _same(variant, query):
            notes.append(f"lexical variant {given!r} dropped: it adds nothing to the query")
            continue
        if far := _too_far(variant, meant, language, cosine, least_cosine):
            notes.append(f"lexical variant {given!r} dropped: {far}")
            continue
        missing = [kept for kept in keep if not _holds(variant, kept)]
        if missing:
            notes.append(f"lexical variant {given!r}: added {' '.join(missing)}")
            variant = " ".join((variant, *missing))
        if _same(variant, query) or _folded(variant) in lexical:
            notes.append(f"lexical variant {given!r} dropped: it is a duplicate")
            continue
        lexical[_folded(variant)] = variant
    semantic = tuple(given for given in expansion.semantic if not _same(given, query))
    notes += [
        f"semantic variant {given!r} dropped: it adds nothing to the query"
        for given in expansion.semantic
        if given not in semantic
    ]
    return Expansion(tuple(lexical.values()), semantic, expansion.hyde), tuple(notes)


def _identifiers(text: str) -> Iterator[str]:
    """Yield the names in a text that are not plain words, with their punctuation."""
    for chunk in _APART.findall(text):
        for unspaced, run in groupby(chunk, is_unspaced):
            name = "".join(run).rstrip(".:/\\-&@~$").lstrip(":&+")
            # Out of its brackets `(-v)` would be a negation.
            if not unspaced and _is_identifier(name) and not any(operators_in(name)):
                yield name


def _is_identifier(name: str) -> bool:
    found = words(name)
    if not found or all(
        fold(word) in STOP_WORDS for part in found for word in re.split("/", part)
    ):
        return False
    if name[0] in _BEFORE_NAMES or len(found) > 1:  # .gitignore, $HOME, std::vector, C:\temp
        return not name[1:].isdecimal()
    return _is_name(found[0])


def _is_name(word: str) -> bool:
    """True for a word that text analysis splits, unless only at a dash or an apostrophe."""
    if word.startswith("-") or "_" in word:
        return True
    if not _IN_NAMES.isdisjoint(word):
        pieces = re.split(r"[./:@&]", word)
        return len(pieces) == 1 or any(len(piece) > 1 or piece.isdigit() for piece in pieces)
    if any(letter.isdigit() for letter in word):  # E0502, utf8, 404; but 3 is only a number
        return len(word) > 2 or not word.isdigit()
    return any(whole_and_parts(piece)[1] for piece in re.split("[-'’]", word) if piece)


def _key(sign: re.Match[str]) -> _Sign:
    shown = " ".join(map(fold, words(operator_text(sign))))
    return bool(sign["minus"]), operator_kind(sign), shown


def _without_signs(variant: str, known: frozenset[_Sign]) -> str:
    """Return a variant without operators that the query does not have.
    Removing one may leave another, as in `"-x"`, so this repeats until nothing changes."""
    variant = normalize(variant)
    while True:
        made: list[str] = []
        end = 0
        for sign in operators_in(variant):
            made.append(_QUOTES.sub(" ", variant[end : sign.start()]))
            made.append(sign.group() if _key(sign) in known else f" {operator_text(sign)} ")
            end = sign.end()
        made.append(_QUOTES.sub(" ", variant[end:]))
        bare = normalize("".join(made))
        if bare == variant:
            return bare
        variant = bare


def _holds(variant: str, kept: str) -> bool:
    """True when a variant contains an operator of the query, or a name of it as a whole word."""
    signs = [_key(sign) for sign in operators_in(kept)]
    if signs:
        return signs[0] in {_key(sign) for sign in operators_in(variant)}
    text, name = f" {fold(variant)} ", fold(kept)
    starts = (match.start() for match in re.finditer(f"(?={re.escape(name)})", text))
    return any(
        _ends(text[at - 1], name[0]) and _ends(text[at + len(name)], name[-1]) for at in starts
    )


def _ends(beside: str, edge: str) -> bool:
    """True when two neighbouring characters do not belong to one word."""
    if edge in "+#" and beside == edge:
        return False
    in_word = beside.isalnum() or beside == "_"
    return not in_word or is_unspaced(beside)


def _says_nothing(variant: str) -> bool:
    """True without a word to search for; negations alone would be searched literally."""
    read = parse_query(variant)
    return read.literal or not (read.words or read.holds)


def _too_far(
    variant: str,
    meant: str,
    language: str,
    cosine: Callable[[str], float | None],
    least_cosine: float,
) -> str:
    """Return why a variant is unrelated to the query, or ""."""
    variant = parse_query(variant).meaning
    if _share_a_stem(variant, meant, language):
        return ""
    near = cosine(variant)
    if near is None or not near < least_cosine:
        return ""
    return f"no word in common with the query, and its cosine {near:.2f} is under {least_cosine:g}"


def _share_a_stem(variant: str, query: str, language: str) -> bool:
    drop = STOP_WORDS
    if language not in ("", "en"):
        drop = folded_stop_words(language)
    ours, theirs = without_stop_words(words(variant), drop), without_stop_words(words(query), drop)
    # The language of a few words is uncertain; a variant is dropped only if no stemmer makes a match.
    ways = {stemmer_for(language)} if language else {"english", *STEMMERS.values()}
    return any(_stems(ours, stems) & _stems(theirs, stems) for stems in sorted(ways))


def _stems(of: list[str], stems: str) -> set[str]:
    return {token for word in of for token in query_tokens(word, stems)}


def _folded(text: str) -> str:
    return " ".join(map(fold, words(text)))


def _same(variant: str, query: str) -> bool:
    return _folded(variant) == _folded(query)
