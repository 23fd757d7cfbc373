"""Postings of runs of tokens, read in one state of the file: tokens, prefixes and phrases.

Memories that were written last are in no segment yet. Their lines are searched instead.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.storage.codec import Codec
from scrubjay.storage.database import Connection
from scrubjay.storage.sql.keyword_index import MEMORIES, TOKENS, split_run
from scrubjay.storage.sql.scope import in_parts
from scrubjay.storage.sqlite.postings import pages
from scrubjay.storage.sqlite.postings.arithmetic import Arithmetic, Norm, Numbers
from scrubjay.storage.sqlite.postings.blocks import SMALL, Posting, StoredBlock
from scrubjay.storage.sqlite.postings.cache import Cache
from scrubjay.storage.sqlite.postings.lines import LINES, tokens_of
from scrubjay.storage.sqlite.postings.runs import DecodedRun, Run, StoredRun
from scrubjay.storage.sqlite.postings.tables import PAGE_OF, PAGES, STAMP
from scrubjay.types import Term

if TYPE_CHECKING:
    from scrubjay.storage.sqlite.postings.decoded import Decoded

OWN = (1.0, 1.0, 1.0, 0.0, 1.0)  # the context of a message is what others said around it
_AFTER = "\U0010ffff"  # after every token with the same beginning

_SIZES = f"SELECT key, value FROM meta WHERE key IN ('{MEMORIES}', '{TOKENS}', '{STAMP}')"
_BLOCKS = (
    "SELECT p.term, p.segment, p.first, p.span, p.count, p.head,"
    f" CASE WHEN p.count <= {SMALL} THEN p.body END"
    " FROM segments AS s CROSS JOIN postings AS p ON p.segment = s.n AND {condition}"
)
_BODIES = (
    "SELECT p.segment, p.term, p.first, p.body FROM segments AS s CROSS JOIN postings AS p"
    " ON p.segment = s.n AND p.term IN ({several})"
    f" WHERE p.count > {SMALL}"
)
_PREFIX_PAGES = (
    "SELECT p.data FROM segments AS s CROSS JOIN json_each(?) AS t CROSS JOIN posting_pages AS p"
    f" ON p.segment = s.n AND p.term >= coalesce({PAGE_OF}, t.value) AND p.term < ?"
)
_BODY = "SELECT body FROM postings WHERE segment = ? AND term = ? AND first = ?"

Lines = tuple[list[str], ...]  # tokens by field
Key = tuple[int, str, int]  # of a block: segment, token and first memory


class TokenList:
    """What is known of a token: its blocks with their segments, its postings on pages, and the list decoded
    from both. Of a large list only that is kept."""

    decoded: Decoded | None = None

    def __init__(self) -> None:
        self.blocks: list[tuple[int, StoredBlock]] | None = []
        self.on_pages: list[Posting] = []
        self.held_by = 0

    @property
    def bytes(self) -> int:
        of_blocks = sum(300 + len(block.body) for _, block in self.blocks or ())
        of_decoded = self.decoded.bytes if self.decoded is not None else 0
        return 500 + 150 * len(self.on_pages) + of_blocks + of_decoded

    @property
    def is_read(self) -> bool:
        return self.blocks is not None and all(block.is_read for _, block in self.blocks)


class _Wanted(NamedTuple):
    """The tokens of a run, and whether the last is a prefix."""

    tokens: tuple[str, ...]
    is_prefix: bool


class Lookup:
    """Reads postings in one state of the file; `memories` and `mean` are of the whole index."""

    def __init__(
        self,
        db: Connection,
        codec: Codec,
        weights: tuple[float, ...],
        arithmetic: Callable[[int], Arithmetic],
        runs: Iterable[Sequence[str]],
        cache: Cache[TokenList],
    ) -> None:
        self._db = db
        self._cache = cache
        noted = dict(db.execute(_SIZES).fetchall())
        self.memories, tokens = noted.get(MEMORIES, 0), noted.get(TOKENS, 0)
        self._stamp = noted.get(STAMP, 0)
        self.norm = Norm(weights, tokens / self.memories if tokens and self.memories else 1.0)
        self._wanted = {tuple(run): _Wanted(*split_run(run, codec)) for run in runs}
        self._runs: dict[tuple[str, ...], Run] = {}
        self._lists: dict[str, TokenList] = {}
        self._prefixed: dict[str, list[str]] = {}
        self._read_lists()
        self.arithmetic = arithmetic(sum(one.held_by for one in self._lists.values()))
        if self.arithmetic.decodes:
            self._decode_lists()
        else:
            self._read_tokens([token for token, of in self._lists.items() if of.blocks is None])
        self._latest = self._read_latest()

    def run(self, run: Sequence[str]) -> Run:
        """Return the postings of a run that was announced."""
        key = tuple(run)
        if key not in self._runs:
            self._runs[key] = self._make(self._wanted[key])
        return self._runs[key]

    def numbers(self, terms: Sequence[tuple[str, ...]], *, counted: bool = False) -> Numbers:
        """Return the memories that hold any of these runs."""
        parts = [self.run(run).all() for run in terms]
        return self.arithmetic.numbers_of(parts, counted=counted)

    def held_by(self, term: Term) -> int:
        """Return how many memories hold a term."""
        if len(term.any_of) == 1:
            return self.run(term.any_of[0]).held_by
        return len(self.numbers(term.any_of))

    def bodies(self, tokens: Sequence[str]) -> dict[Key, bytes]:
        """Return the bodies of large blocks."""
        found: dict[Key, bytes] = {}
        for several, part in in_parts(tokens):
            rows = self._db.execute(_BODIES.format(several=several), part)
            found.update(((segment, token, first), body) for segment, token, first, body in rows)
        return found

    def body(self, key: Key) -> bytes:
        row = self._db.execute(_BODY, key).fetchone()
        return b"" if row is None else row[0]

    def _read_lists(self) -> None:
        exact: dict[str, None] = {}
        prefixes: dict[str, None] = {}
        for tokens, is_prefix in self._wanted.values():
            exact.update(dict.fromkeys(tokens[:-1] if is_prefix else tokens))
            if is_prefix:
                prefixes[tokens[-1]] = None
        missing = []
        for token in exact:
            known = self._cache.get(self._stamp, token)
            if known is None:
                missing.append(token)
            else:
                self._lists[token] = known
        self._read_tokens(missing)
        for prefix in prefixes:
            self._prefixed[prefix] = self._read_prefix(prefix)

    def _read_tokens(self, tokens: Sequence[str]) -> None:
        self._lists.update((token, TokenList()) for token in tokens)
        for several, part in in_parts(tokens):
            self._read_blocks(self._lists, f"p.term IN ({several})", part)
        if tokens:
            for token, _, _, data in self._db.execute(PAGES, (json.dumps(tokens),)):
                held = pages.find(data, token)
                self._lists[token].on_pages += held
                self._lists[token].held_by += len(held)
        for token in tokens:
            if self._lists[token].is_read:
                self._cache.put(self._stamp, token, self._lists[token])

    def _read_prefix(self, prefix: str) -> list[str]:
        """Read all tokens with a prefix; return them."""
        found: dict[str, TokenList] = {}
        after = prefix + _AFTER
        self._read_blocks(found, "p.term >= ? AND p.term < ?", (prefix, after))
        for (data,) in self._db.execute(_PREFIX_PAGES, (json.dumps([prefix]), after)):
            for token, held in pages.decode(data).postings():
                if token.startswith(prefix):
                    of_token = found.setdefault(token, TokenList())
                    of_token.on_pages += held
                    of_token.held_by += len(held)
        for token, of_token in found.items():
            self._lists.setdefault(token, of_token)
        return list(found)

    def _read_blocks(
        self, lists: dict[str, TokenList], condition: str, arguments: Sequence[object]
    ) -> None:
        rows = self._db.execute(_BLOCKS.format(condition=condition), arguments)
        for token, segment, *stored in rows:
            of_token = lists.setdefault(token, TokenList())
            block = StoredBlock(*stored)
            assert of_token.blocks is not None
            of_token.blocks.append((segment, block))
            of_token.held_by += block.size

    def _decode_lists(self) -> None:
        """Decode every list into arrays."""
        from scrubjay.storage.sqlite.postings.decoded import decode_list

        missing = [token for token, of in self._lists.items() if of.decoded is None]
        bodies = self.bodies([token for token in missing if not self._lists[token].is_read])
        for token in missing:
            one = self._lists[token]
            blocks = [
                block
                if block.is_read
                else block._replace(body=bodies.get((segment, token, block.first), b""))
                for segment, block in one.blocks or ()
            ]
            decoded = TokenList()
            decoded.decoded = decode_list(sorted(blocks), one.on_pages)
            decoded.held_by = one.held_by
            decoded.blocks, decoded.on_pages = None, []
            if one.is_read:
                decoded.blocks, decoded.on_pages = one.blocks, one.on_pages
            self._lists[token] = decoded
            self._cache.put(self._stamp, token, decoded)

    def _read_latest(self) -> dict[int, Lines]:
        """Return the lines of memories in no segment that may hold any of the tokens."""
        tokens = dict.fromkeys(token for tokens, _ in self._wanted.values() for token in tokens)
        if not tokens:
            return {}
        # Between the fields is no letter of a token, so that no token is found across two of them.
        line = LINES.replace(", ", " || ' ' || w.")
        found: dict[int, Lines] = {}
        for _, part in in_parts(list(tokens)):
            held = " OR ".join(["instr(line, ?)"] * len(part))
            rows = self._db.execute(
                f"SELECT n, {LINES} FROM (SELECT u.memory AS n, {LINES}, w.{line} AS line"
                f" FROM unindexed AS u CROSS JOIN words AS w ON w.rowid = u.memory) WHERE {held}",
                part,
            )
            for n, *lines in rows:
                found[n] = tuple(map(tokens_of, lines))
        return found

    def _make(self, wanted: _Wanted) -> Run:
        tokens, is_prefix = wanted
        if not tokens:
            return self._fixed([])
        if len(tokens) == 1:
            return self._prefix(tokens[0]) if is_prefix else self._token(tokens[0])
        parts: list[Run] = [self._token(token) for token in tokens[: -1 if is_prefix else None]]
        if is_prefix:
            parts.append(self._prefix(tokens[-1]))
        parts.sort(key=lambda part: part.held_by)
        numbers = self.arithmetic.numbers_of([parts[0].all()])
        for part in parts[1:]:
            held = self.arithmetic.numbers_of([part.covering(numbers)])
            numbers = self.arithmetic.common(numbers, held)
        return self._fixed(self._adjacent(numbers, wanted))

    def _fixed(self, postings: Sequence[Posting]) -> Run:
        of = self.arithmetic.of
        stored = [one for one in postings if one[0] not in self._latest]
        latest = [one for one in postings if one[0] in self._latest]
        return Run(self.arithmetic, [of(stored, self.norm)], of(latest, self.norm), self.norm)

    def _token(self, token: str) -> Run:
        latest = self._latest_of(lambda line: line.count(token))
        return self._listed(token, latest)

    def _listed(self, token: str, latest: Sequence[Posting]) -> Run:
        held = self._lists[token]
        if self.arithmetic.decodes:
            assert held.decoded is not None
            of = self.arithmetic.of(latest, self.norm)
            return DecodedRun(self.arithmetic, held.decoded, of, self.norm)
        return StoredRun(self, token, held.blocks or (), held.on_pages, latest)

    def _prefix(self, prefix: str) -> Run:
        latest = self._latest_of(lambda line: sum(token.startswith(prefix) for token in line))
        several = [self._listed(token, ()).all() for token in self._prefixed[prefix]]
        stored = [self.arithmetic.summed(several)] if several else []
        of = self.arithmetic.of(latest, self.norm)
        return Run(self.arithmetic, stored, of, self.norm)

    def _latest_of(self, count: Callable[[list[str]], int]) -> list[Posting]:
        """Return the postings of memories in no segment."""
        found: list[Posting] = []
        for n, lines in self._latest.items():
            counts = tuple(map(count, lines))
            if any(counts):
                found.append((n, counts, sum(map(len, lines))))
        return found

    def _adjacent(self, numbers: Numbers, wanted: _Wanted) -> list[Posting]:
        """Return those of these memories whose lines have tokens side by side."""
        found = []
        for several, part in in_parts(list(map(int, numbers))):
            rows = self._db.execute(
                f"SELECT rowid, {LINES} FROM words WHERE rowid IN ({several})", part
            )
            for n, *stored in rows:
                lines = tuple(map(tokens_of, stored))
                counts = tuple(_count(line, wanted) for line in lines)
                if any(counts):
                    found.append((n, counts, sum(map(len, lines))))
        return found


def _count(line: list[str], wanted: _Wanted) -> int:
    """Return how often a line has tokens side by side."""
    tokens, is_prefix = wanted
    size, last = len(tokens), tokens[-1]
    before = list(tokens[:-1])
    count, at = 0, -1
    while True:
        try:
            at = line.index(before[0], at + 1)
        except ValueError:
            return count
        if line[at : at + size - 1] == before and at + size <= len(line):
            held = line[at + size - 1]
            count += held.startswith(last) if is_prefix else held == last
