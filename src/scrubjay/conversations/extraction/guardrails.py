"""Check the facts that a model proposes: no invented quotes, names or numbers, no translation.

A rejected fact loses nothing: its message stays a memory. So does a message whose facts leave out a
word of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property

from scrubjay.conversations.extraction import (
    MOST_FACT_CHARS,
    Answer,
    Fact,
    KnownFact,
    Rejected,
    Turn,
)
from scrubjay.conversations.extraction.prompt import own_words
from scrubjay.text import analysis
from scrubjay.text.analysis import fold, query_tokens, stemmer_for, without_stop_words, words
from scrubjay.text.languages import detect, stop_words
from scrubjay.text.recall_tags import recalled_spans, without_recalled

# Words for a speaker whose name is not known.
_SPEAKERS = frozenset(
    """user users speaker person customer client assistant agent bot system
    nutzer nutzers nutzerin benutzer benutzers benutzerin person kunde kundin assistent assistentin
    usuario usuaria utilisateur utilisatrice utente""".split()
)
_DIGITS = re.compile(r"\d+")
_INSIDE_WORD = re.compile(r"['’\-/._]")
_SHORT_CHARS = 4


def check_facts(
    answer: Answer,
    turns: Sequence[Turn],
    context: Sequence[Turn],
    known: Sequence[KnownFact],
    names: Iterable[str] = (),
) -> tuple[list[Fact], list[Rejected]]:
    """Return the accepted facts, and the others with the reason.

    `turns` are those that the model was asked about. `names` may be in a fact though no turn has them:
    the owner and the agent of the conversation.
    """
    by_number = {turn.number: turn for turn in turns}
    names = list(names)
    known_texts = {fact.id: fact.text for fact in known}
    spoken = [without_recalled(turn.text) for turn in (*context, *turns)]
    facts: list[Fact] = []
    rejected = [Rejected(0, reason) for reason in answer.malformed]
    for proposed in answer.facts:
        turn = by_number.get(proposed.turn)
        if turn is None:
            rejected.append(Rejected(0, "it names a turn that it was not asked about"))
            continue
        text = analysis.normalize(analysis.valid_unicode(proposed.text))
        place = find_quote(proposed.quote, turn.text)
        replaced = known_texts.get(proposed.id, "")
        sources = [*spoken, replaced]
        is_shown = proposed.action == "add" or replaced
        reason = (
            _unfit(text)
            or ("" if place else "the quote is not in the turn")
            or ("" if is_shown else "it names a known fact that it was not shown")
            or _translated(text, without_recalled(turn.text))
            or _invented(text, [*sources, *names])
            or _mostly_unsaid(text, without_recalled(turn.text), sources, names)
        )
        if reason or place is None:
            rejected.append(Rejected(proposed.turn, reason))
        else:
            facts.append(Fact(proposed.turn, *place, text, proposed.action, proposed.id))
    return facts, rejected


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Return the position of a quote in a text, outside recalled text; only spaces may differ."""
    parts = quote.strip().strip('"“”„«»').split()
    if not any(map(words, parts)):
        return None
    pattern = re.compile(r"\s+".join(map(re.escape, parts)))
    recalled = recalled_spans(text)
    for match in pattern.finditer(text):
        if all(match.end() <= start or match.start() >= stop for start, stop in recalled):
            return match.start(), match.end()
    return None


def is_covered(message: str, facts: Iterable[str]) -> bool:
    """True when every word of a message that is no stop word is in its facts; recalled text is ignored."""
    spoken = without_recalled(message)
    language = detect(spoken)
    vocabulary = _Vocabulary("\n".join(facts), language)
    return all(
        vocabulary.stems.issuperset(query_tokens(word, stemmer_for(language)))
        or vocabulary.has_form(fold(word))
        for word in without_stop_words(words(spoken), _function_words(language))
    )


def share_a_word(text: str, other: str) -> bool:
    """True when two facts have a word in common, in any form; stop words and speakers do not count."""
    one, two = (
        {
            token
            for word in words(fact)
            if fold(word) not in _plain_words(fact)
            for token in query_tokens(word, stemmer_for(detect(fact)))
        }
        for fact in (text, other)
    )
    return not one.isdisjoint(two)


class _Vocabulary:
    """The words of a text: stems, and folded words with those that have signs inside in parts."""

    def __init__(self, text: str, language: str = "") -> None:
        self._text, self._language = text, language
        self._words = {fold(part) for part in _parts(text)}

    @cached_property
    def stems(self) -> set[str]:
        return set(analysis.tokens(self._text, self._language))

    def has(self, word: str) -> bool:
        """True for a word in this form or another: Katzen for Katze, Müllers for Müller."""
        if not word or word in self._words or word.removesuffix("s") in self._words:
            return True
        if len(word) <= _SHORT_CHARS:  # "does" does not contain the name "Doe"
            return False
        return any(word in longer for longer in self._words) or self.has_form(word)

    def has_form(self, word: str) -> bool:
        """True for another form of a word: wohnt for wohne, which have two stems."""
        if len(word) <= _SHORT_CHARS or not word.isalpha():
            return False
        stem = word[: -1 if len(word) < 7 else -2]
        return any(
            other.startswith(stem) and abs(len(other) - len(word)) <= 2 for other in self._words
        )


def _unfit(text: str) -> str:
    """Return why a text cannot be a fact of any turn, or ""."""
    is_unspaced = len(text) > 1 and not text.isascii() and words(text)
    if len(words(text)) < 2 and not is_unspaced:
        return "the fact is empty"
    if len(text) > MOST_FACT_CHARS:
        return f"the fact has more than {MOST_FACT_CHARS} characters"
    if any(analysis.fold_text(text) in own for own in own_words()):
        return "the fact repeats the prompt"
    return ""


def _translated(text: str, spoken: str) -> str:
    languages = (detect(spoken), detect(text))
    if all(languages) and len(set(languages)) > 1:
        return "the fact is in another language than its turn"
    return ""


def _mostly_unsaid(text: str, spoken: str, sources: Sequence[str], names: Sequence[str]) -> str:
    """Reject a fact of uncertain language if most of its words were not said. A short sentence
    does not show its language: "Anna has a cat" for "Ich habe eine Katze"."""
    languages = (detect(spoken), detect(text))
    if all(languages):
        return ""
    language = languages[0] or languages[1]
    vocabulary = _Vocabulary("\n".join(sources), language)
    plain = _plain_words(text) | _plain_words(spoken)
    plain |= {fold(part) for name in names for part in _parts(name)}
    telling = [word for word in words(text) if fold(word) not in plain]
    said = sum(
        not vocabulary.stems.isdisjoint(query_tokens(word, stemmer_for(language)))
        or vocabulary.has(fold(word))
        for word in telling
    )
    if 2 * said < len(telling):
        return "the fact is translated or invented: most of its words were not said"
    return ""


def _invented(text: str, sources: Sequence[str]) -> str:
    """Reject a fact with a number, or a capitalised name, that was not said."""
    source = "\n".join(sources)
    if not set(_DIGITS.findall(text)) <= set(_DIGITS.findall(source)):
        return "the fact has a number that nobody said"
    vocabulary = _Vocabulary(source)
    plain = _plain_words(text)
    for part in _parts(text):
        if part[:1].isupper() and fold(part) not in plain and not vocabulary.has(fold(part)):
            return "the fact has a name that nobody said"
    return ""


def _parts(text: str) -> list[str]:
    """Return the words of a text, those with signs inside in parts: Ann's, U.S., Wi-Fi."""
    return [part for word in words(text) for part in _INSIDE_WORD.split(word) if part]


def _plain_words(text: str) -> frozenset[str]:
    """Return words that may be capitalised without being a name."""
    return _function_words(detect(text)) | _SPEAKERS


def _function_words(language: str) -> frozenset[str]:
    """Return the stop words of a language, folded; English ones count in any language."""
    return analysis.STOP_WORDS | frozenset(map(fold, stop_words(language)))
