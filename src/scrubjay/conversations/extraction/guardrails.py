"""What a model may not do to a conversation: quote what nobody said, invent, translate, or repeat us.

A fact that is rejected loses nothing: its message stays a memory, as it was said. So does one whose
facts leave out a word of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from scrubjay.conversations.extraction import (
    MOST_FACT_CHARS,
    Answer,
    Fact,
    Known,
    Offer,
    Rejected,
    Turn,
)
from scrubjay.conversations.extraction.prompt import own_words
from scrubjay.text.analysis import (
    STOP_WORDS,
    fold,
    fold_text,
    normalize,
    query_tokens,
    stemmer_for,
    tokens,
    valid_unicode,
    without_stop_words,
    words,
)
from scrubjay.text.languages import detect, stop_words
from scrubjay.text.recall_tags import recalled_spans, without_recalled

# How a speaker may be called who gave no name.
_SPEAKERS = frozenset(
    """user users speaker person customer client assistant agent bot system
    nutzer nutzers nutzerin benutzer benutzers benutzerin person kunde kundin assistent assistentin
    usuario usuaria utilisateur utilisatrice utente""".split()
)
_DIGITS = re.compile(r"\d+")
_INSIDE = re.compile(r"['’\-/._]")
_SHORT_CHARS = 4


def guarded(
    answer: Answer,
    turns: Sequence[Turn],
    context: Sequence[Turn],
    known: Sequence[Known],
    names: Iterable[str] = (),
) -> tuple[list[Fact], list[Rejected]]:
    """Return the facts that are accepted, and why the others are not.

    `turns` are those that were asked about. `names` may stand in a fact though nobody said them: whose
    memory it is, and who talks with them.
    """
    numbered = {turn.number: turn for turn in turns}
    known_names = [*names]
    texts = {one.id: one.text for one in known}
    said = [without_recalled(turn.text) for turn in (*context, *turns)]
    facts: list[Fact] = []
    rejected = [Rejected(0, reason) for reason in answer.malformed]
    for offer in answer.offers:
        turn = numbered.get(offer.turn)
        if turn is None:
            rejected.append(Rejected(0, "it names a turn that it was not asked about"))
            continue
        text = normalize(valid_unicode(offer.text))
        place = find(offer.quote, turn.text)
        replaced = texts.get(offer.id, "")
        why = (
            _unfit(text)
            or ("" if place else "the quote is not in the turn")
            or _unknown(offer, replaced)
            or _translated(text, without_recalled(turn.text))
            or _invented(text, [*said, replaced, *known_names])
            or _unsaid(text, without_recalled(turn.text), [*said, replaced], known_names)
        )
        if why or place is None:
            rejected.append(Rejected(offer.turn, why))
            continue
        facts.append(Fact(offer.turn, *place, text, offer.action, offer.id))
    return facts, rejected


def find(quote: str, text: str) -> tuple[int, int] | None:
    """Return where a quote stands in a text, letter by letter but for spaces, outside recalled text."""
    parts = quote.strip().strip('"“”„«»').split()
    if not any(map(words, parts)):
        return None
    pattern = re.compile(r"\s+".join(map(re.escape, parts)))
    marked = recalled_spans(text)
    for match in pattern.finditer(text):
        if all(match.end() <= start or match.start() >= stop for start, stop in marked):
            return match.start(), match.end()
    return None


def covered(message: str, facts: Iterable[str]) -> bool:
    """True when every telling word of a message, recalled text left out, stands in its facts."""
    said = without_recalled(message)
    language = detect(said)
    told = without_stop_words(words(said), _function_words(language))
    texts = "\n".join(facts)
    stems, held = set(tokens(texts, language)), {fold(part) for part in _parts(texts)}
    return all(
        stems.issuperset(query_tokens(word, stemmer_for(language))) or _has_form(fold(word), held)
        for word in told
    )


def share_a_word(text: str, other: str) -> bool:
    """True when two facts have a telling word in common, in any form; who it is about tells nothing."""
    one, two = (
        {
            token
            for word in words(said)
            if fold(word) not in _plain_words(said)
            for token in query_tokens(word, stemmer_for(detect(said)))
        }
        for said in (text, other)
    )
    return not one.isdisjoint(two)


def _unfit(text: str) -> str:
    """Return why a text is no fact, whatever the turn says; "" where it may be one."""
    if len(words(text)) < 2 and not _unspaced(text):
        return "the fact is empty"
    if len(text) > MOST_FACT_CHARS:
        return f"the fact has more than {MOST_FACT_CHARS} characters"
    if any(fold_text(text) in own for own in own_words()):
        return "the fact repeats the prompt"
    return ""


def _unspaced(text: str) -> bool:
    """True for a text of a script in which words are not apart, if it is more than a sign."""
    return len(text) > 1 and any(not one.isascii() for one in text) and bool(words(text))


def _unknown(offer: Offer, replaced: str) -> str:
    if offer.action != "add" and not replaced:
        return "it names a known fact that it was not shown"
    return ""


def _translated(text: str, said: str) -> str:
    spoken, written = detect(said), detect(text)
    if spoken and written and spoken != written:
        return "the fact is in another language than its turn"
    return ""


def _unsaid(text: str, said: str, sources: Sequence[str], names: Sequence[str]) -> str:
    """Return why a fact of which the language is unsure is none: few of its telling words were said.

    A short sentence does not show its language: "Anna has a cat" of "Ich habe eine Katze".
    """
    spoken, written = detect(said), detect(text)
    if spoken and written:
        return ""
    source, language = "\n".join(sources), spoken or written
    stems, held = set(tokens(source, language)), {fold(part) for part in _parts(source)}
    plain = _plain_words(text) | _plain_words(said)
    plain |= {fold(part) for name in names for part in _parts(name)}
    told = [word for word in words(text) if fold(word) not in plain]
    found = sum(
        not stems.isdisjoint(query_tokens(word, stemmer_for(language)))
        or _is_held(fold(word), held)
        for word in told
    )
    if 2 * found < len(told):
        return "the fact is translated or invented: most of its words were not said"
    return ""


def _invented(text: str, sources: Sequence[str]) -> str:
    """Return why a fact holds what nobody said: a number, or a name by its capital."""
    source = "\n".join(sources)
    if not set(_DIGITS.findall(text)) <= set(_DIGITS.findall(source)):
        return "the fact has a number that nobody said"
    held = {fold(part) for part in _parts(source)}
    plain = _plain_words(text)
    for part in _parts(text):
        if part[:1].isupper() and fold(part) not in plain and not _is_held(fold(part), held):
            return "the fact has a name that nobody said"
    return ""


def _parts(text: str) -> list[str]:
    """Return the words of a text, those with signs inside in parts: Ann's, U.S., Wi-Fi."""
    return [part for word in words(text) for part in _INSIDE.split(word) if part]


def _plain_words(text: str) -> frozenset[str]:
    """Return words that may have a capital without being a name."""
    return _function_words(detect(text)) | _SPEAKERS


def _function_words(language: str) -> frozenset[str]:
    """Return words that tell nothing by themselves, folded; English ones are told in any language."""
    return STOP_WORDS | frozenset(map(fold, stop_words(language)))


def _is_held(word: str, held: set[str]) -> bool:
    """True when a word was said, in this form or another: Katzen for Katze, Müllers for Müller."""
    if not word or word in held or word.removesuffix("s") in held:
        return True
    if len(word) <= _SHORT_CHARS:  # "Doe" is not said by who says "does"
        return False
    return any(word in one for one in held) or _has_form(word, held)


def _has_form(word: str, held: set[str]) -> bool:
    """True when another form of a word was said: wohnt for wohne, which are two stems."""
    if len(word) <= _SHORT_CHARS or not word.isalpha():
        return False
    stem = word[: -1 if len(word) < 7 else -2]
    return any(one.startswith(stem) and abs(len(one) - len(word)) <= 2 for one in held)
