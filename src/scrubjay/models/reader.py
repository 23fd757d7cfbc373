"""Reader of changes: reads a question and dated notes together, or two notes, on onnxruntime.

It says how likely each note answers the question now, and what the newer of two notes does to the older.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.errors import Unavailable
from scrubjay.models import Answers, Passage, Relation
from scrubjay.models.bundled import READER
from scrubjay.models.onnx_session import (
    batches,
    default_threads,
    open_session,
    required_packages,
    runtime_errors,
)
from scrubjay.models.process.shareable import Shareable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    Numbers = NDArray[np.float64]

log = logging.getLogger(__name__)

# As it was trained. The mark is a token of the vocabulary that no text has.
MOST_NOTES = 8
_CLS, _SEP, _MARK = 101, 102, 2
_NOTE_TOKENS, _QUESTION_TOKENS = 48, 40
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MOST_CHARS = 2_000  # more than 48 tokens of any text that is not a blob
_BATCH_TOKENS = 2048
_OUTPUTS = ["none", "answers", "relations"]


class _Row(NamedTuple):
    """The input for one pair or one question, and the places of its marks."""

    ids: list[int]
    notes_from: int
    marks: list[int]


class OnnxReader(Shareable):
    """The reader in a folder with its graph. Creating one costs nothing: it is loaded at first use.
    It may be shared between threads. The graph has the scales of its numbers inside, so a result does
    not depend on what is read with it."""

    def __init__(
        self, graph: Path, tokenizer: Path, name: str = READER, *, threads: int | None = None
    ) -> None:
        self.name = name
        self._graph, self._tokenizer_file = graph, tokenizer
        self._threads = threads or default_threads()
        self._loading = threading.Lock()
        self._loaded: tuple[Any, Tokenizer] | None = None

    @property
    def is_loaded(self) -> bool:
        return self._loaded is not None or self._elsewhere is not None

    def load(self) -> None:
        """Load the model now rather than later; raises Unavailable if it cannot."""
        if not self.load_elsewhere():
            self._parts()

    def model_files(self) -> list[Path]:
        return [self._graph, self._tokenizer_file]

    def relations(self, pairs: Sequence[tuple[Passage, Passage]]) -> list[Relation]:
        """Return for each pair of an older and a newer note what the newer one does to the older one."""
        asked = [[_sent(older), _sent(newer)] for older, newer in pairs]
        reply = self.answer("relations", pairs=asked)
        if reply is not None:
            return [Relation(*relation) for relation in reply.result]
        rows = [self._row("", [older, newer]) for older, newer in pairs]
        return [Relation(*_softmax(relation)) for _, _, relation in self._run(rows)]

    def answers(self, question: str, asked_at: datetime, notes: Sequence[Passage]) -> Answers:
        """Return how likely none of the notes answers a question, and each of them, in their order;
        together that is 1. Notes after the first `MOST_NOTES` are not read: they get 0."""
        sent = [_sent(note) for note in notes]
        reply = self.answer(
            "answers", question=question, asked_at=asked_at.isoformat(), notes=sent
        )
        if reply is not None:
            none_of, found = reply.result
            return Answers(none_of, tuple(found))
        read = list(enumerate(notes))[:MOST_NOTES]
        # Oldest first, as it was trained; without a date, in the order given.
        read.sort(key=lambda one: (one[1].at is not None, one[1].at and one[1].at.timestamp()))
        asked = f"asked {_date_words(asked_at)}: "
        ((none, answers, _),) = self._run([self._row(question, [note for _, note in read], asked)])
        none_of, *found = _softmax([none, *answers])
        likely = dict(zip((at for at, _ in read), found, strict=True))
        return Answers(none_of, tuple(likely.get(at, 0.0) for at in range(len(notes))))

    def _row(self, question: str, notes: Sequence[Passage], asked: str = "") -> _Row:
        ids = [_CLS]
        if asked:
            ids += [*self._ids(asked), *self._ids(question)[:_QUESTION_TOKENS]]
        ids.append(_SEP)
        first, marks = len(ids), []
        for text, at in notes:
            marks.append(len(ids))
            date = [] if at is None else self._ids(f"{_date_words(at)}: ")
            ids += [_MARK, *date, *self._ids(text)[:_NOTE_TOKENS], _SEP]
        return _Row(ids, first, marks)

    def _ids(self, text: str) -> list[int]:
        _, tokenizer = self._parts()
        # No tokenizer takes halves of surrogate pairs.
        text = text[:_MOST_CHARS].encode("utf-8", "replace").decode("utf-8")
        try:
            ids: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
        except Exception as error:  # tokenizers raises nothing narrower
            raise Unavailable(f"the tokenizer of {self.name} failed: {error}") from error
        return ids

    def _run(self, rows: Sequence[_Row]) -> list[tuple[float, list[float], list[float]]]:
        """Return for each row the logits of none, of each note, and of the relations."""
        import numpy as np

        session, _ = self._parts()
        found: dict[int, tuple[float, list[float], list[float]]] = {}
        for batch in batches([len(row.ids) for row in rows], _BATCH_TOKENS):
            shape = (len(batch), max(len(rows[at].ids) for at in batch))
            ids, mask, segments = (np.zeros(shape, np.int64) for _ in range(3))
            for place, at in enumerate(batch):
                length = len(rows[at].ids)
                ids[place, :length], mask[place, :length] = rows[at].ids, 1
                segments[place, rows[at].notes_from : length] = 1
            inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": segments}
            try:
                none, answers, relations = session.run(_OUTPUTS, inputs)
            except runtime_errors() as error:
                raise Unavailable(f"onnxruntime failed on {self.name}: {error}") from error
            for place, at in enumerate(batch):
                marked = answers[place, rows[at].marks].tolist()
                found[at] = float(none[place, 0]), marked, relations[place].tolist()
        return [found[at] for at in range(len(rows))]

    def _parts(self) -> tuple[Any, Tokenizer]:
        if self._loaded is None:
            with self._loading:
                if self._loaded is None:
                    self._loaded = self._open()
        return self._loaded

    def _open(self) -> tuple[Any, Tokenizer]:
        from scrubjay.models.embed.windows import load_tokenizer

        session = open_session(self.name, self._graph, threads=self._threads)
        if not {*_OUTPUTS} <= {node.name for node in session.get_outputs()}:
            raise Unavailable(f"{self._graph} is not a reader of changes")
        try:
            with required_packages(self.name):
                tokenizer = load_tokenizer(self._tokenizer_file)
        except Unavailable:
            raise
        except Exception as error:  # tokenizers raises nothing narrower
            raise Unavailable(
                f"The tokenizer {self._tokenizer_file} cannot be read: {error}"
            ) from error
        # A text that contains "[SEP]" contains these letters; it does not start another note.
        tokenizer.encode_special_tokens = True
        log.info("%s is read from %s", self.name, self._graph)
        return session, tokenizer


def _sent(note: Passage) -> tuple[str, str | None]:
    """Return a note as the model process gets it."""
    return note.text, None if note.at is None else note.at.isoformat()


def _date_words(at: datetime) -> str:
    """Return a date as the reader knows it: "3 may 2025"."""
    return f"{at.day} {_MONTHS[at.month - 1]} {at.year}"


def _softmax(logits: Sequence[float]) -> list[float]:
    import numpy as np

    values: Numbers = np.asarray(logits, np.float64)
    if not np.isfinite(values).all():
        raise Unavailable("the reader of changes gave values that are not numbers")
    powers = np.exp(values - values.max())
    shares: list[float] = (powers / powers.sum()).tolist()
    return shares
