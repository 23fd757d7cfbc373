"""What keeps memories and what finds them, as four small protocols.

Records are the truth; the three indexes are ways to find, and can be rebuilt from the records.
Every search takes a Scope, and each store binds it in its own query: nothing is filtered afterwards.
Scores out of a store are "higher is better".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from scrubjay.text.tfidf import Counted as Counted

if TYPE_CHECKING:
    from scrubjay.storage.sql.files import IndexedFile
    from scrubjay.text.tfidf import Bag
    from scrubjay.text.token_vectors import TokenCodes
    from scrubjay.types import Chunk, Memory, Neighbor, RankedList, Row, Scope, Spoken, Term


class Records(Protocol):
    """Keeps the memories."""

    def put(self, memory: Memory, chunks: Sequence[Chunk]) -> None:
        """Write a memory with its chunks, in place of any other of the same id."""
        ...

    def get(self, ids: Sequence[str], scope: Scope) -> dict[str, Memory]:
        """Return the memories of these ids that the scope may see."""
        ...

    def chunks(self, places: Iterable[tuple[str, int]]) -> Mapping[tuple[str, int], Chunk]:
        """Return chunks by memory id and ordinal."""
        ...

    def chunks_of(self, id_: str) -> Sequence[Chunk]:
        """Return every chunk of a memory, in order."""
        ...

    def how_many_chunks(self, ids: Sequence[str]) -> Mapping[str, int]:
        """Return how many chunks each of these memories has."""
        ...

    def delete(self, ids: Sequence[str]) -> int:
        """Remove memories and everything derived from them; return how many there were."""
        ...

    def languages(self) -> Sequence[str]:
        """Return the languages of what is stored; "" stands for texts whose language is not clear."""
        ...

    def holds_any(self, scope: Scope) -> bool:
        """True when the scope sees at least one memory."""
        ...

    def namespaces(self, scope: Scope, most: int) -> Sequence[str]:
        """Return the first so many namespaces, by name, in which a scope's person may see anything."""
        ...

    def ids(self, scope: Scope) -> Sequence[str]:
        """Return the ids of everything that a scope may see."""
        ...

    def scan(self, scope: Scope, limit: int, offset: int = 0) -> list[Memory]:
        """Return the memories of a scope, newest first."""
        ...

    @property
    def short_turn_chars(self) -> int:
        """How long a turn of a conversation may be to be known by those around it."""
        ...

    def around(
        self, ids: Sequence[str], turns: int, scope: Scope
    ) -> Mapping[str, tuple[Sequence[Memory], Sequence[Memory]]]:
        """Return so many turns before and after each of these messages, in order, as two lists."""
        ...


class Files(Protocol):
    """Knows which file became which document."""

    def of(self, ids: Sequence[str]) -> Mapping[str, IndexedFile]:
        """Return the files behind these documents."""
        ...

    def how_many(self) -> int:
        """Return how many documents came out of files."""
        ...

    def seen(self, scope: Scope) -> Sequence[IndexedFile]:
        """Return every indexed file that a scope may see."""
        ...


class Words(Protocol):
    """Writes the keyword index; only inside a write."""

    def is_current(self) -> bool:
        """True when all words were made and counted by the rules of this version."""
        ...

    def is_of_other_rules(self) -> bool:
        """True when the words were made by other rules of text.py; a new store has none."""
        ...

    def knows_turns(self) -> bool:
        """True when short turns were indexed with those around them."""
        ...

    def clear(self) -> None:
        """Drop all words and topics, to be put anew; what is put from now on is counted."""
        ...

    def note_current(self) -> None:
        """Note that all words are those of this version, and count them where nobody has."""
        ...

    def put(self, n: int, memory: Memory, was_in: str | None = None) -> None:
        """Index a memory by its number, in place of what it was in some namespace."""
        ...

    def put_topics(self, renamed: Iterable[tuple[int, Sequence[str], str]]) -> None:
        """Index other topics of memories, each given by its number, its topics and its language."""
        ...

    def put_context(self, n: int, context: str, language: str) -> bool:
        """Index another context of a memory; False where its tokens are there already."""
        ...

    def delete(self, numbers: Sequence[int]) -> None:
        """Drop the words of memories that are about to go; their topics go with them."""
        ...

    def put_lines(self, rows: Sequence[Sequence[Any]]) -> None:
        """Add lines of tokens as another index has them, each after its number; nothing is counted."""
        ...

    def drop_lines(self, numbers: Sequence[int]) -> None:
        """Remove the lines of memories; nothing is counted."""
        ...

    def overwrite_deleted(self) -> None:
        """Leave nothing of deleted words behind."""
        ...


class KeywordIndex(Protocol):
    """Finds memories by word."""

    def search(
        self,
        terms: Sequence[Term],
        scope: Scope,
        limit: int,
        weights: Mapping[str, float],
        *,
        every_first: bool = True,
    ) -> RankedList:
        """Return the memories that hold any of the terms, best first; by default those with all first."""
        ...

    def rarity(self, term: Term) -> float:
        """Return how telling a term is: higher, the fewer memories hold it."""
        ...


class VectorIndex(Protocol):
    """Finds memories by the direction of a vector."""

    def search(
        self,
        vector: Any,
        model: str,
        scope: Scope,
        limit: int,
        *,
        shortlist: int | None = None,
        short_dims: int | None = None,
    ) -> RankedList:
        """Return the memories with the nearest chunk, by cosine.

        With `shortlist`, a store may choose so many by their first `short_dims` numbers beforehand.
        """
        ...

    def missing(self, model: str, scope: Scope) -> int:
        """Return how many chunks have no vector of this model yet."""
        ...

    def without(self, model: str, scope: Scope) -> int:
        """Return how many chunks have no vector of a model, also of one that the store does not know."""
        ...


class TopicIndex(Protocol):
    """Finds memories by their topics, without keeping these readable."""

    def search(
        self,
        keywords: Sequence[str],
        vector: Any | None,
        model: str | None,
        scope: Scope,
        limit: int,
    ) -> RankedList:
        """Return the memories with the most of these topics, then the nearer ones, then the newer."""
        ...


class Copies(Protocol):
    """Knows which memories are the same text in several namespaces."""

    def spanned(self, scope: Scope) -> Sequence[str]:
        """Return the names of the shared collections that a scope may see."""
        ...

    def stand_ins(self, ids: Sequence[str], scope: Scope) -> Mapping[str, Row]:
        """Return, for those of these memories that are in a shared collection, what stands for them."""
        ...


class TermIndex(Protocol):
    """Knows how often each token stands in a memory, and how many memories hold it."""

    def asked(self, text: str, language: str) -> Mapping[str, int]:
        """Return the tokens of a query, as a text of this language has them, with how often each stands."""
        ...

    def bags(self, ids: Sequence[str]) -> Mapping[str, Bag]:
        """Return, by id, the tokens of title, text, context and topics, with how often each stands."""
        ...

    def counted(self, tokens: Collection[str], scope: Scope) -> Counted:
        """Return how many memories hold each token, of all that the scope's person may see."""
        ...


class Windows(Protocol):
    """Knows when memories are valid."""

    def state_us(self, now_us: int) -> int | None:
        """Return a moment at which the same is valid as now; None where everything always is."""
        ...


class Moments(Protocol):
    """Knows when things were said, and when they happened."""

    def spoken(self, session: str | None, settled_us: int) -> Spoken | None:
        """Return which raw messages are seen; None where all of them are."""
        ...

    def unsettled(self, settled_us: int, scope: Scope) -> int:
        """Return how many messages were said after a moment, of those that a scope may see."""
        ...

    def between(self, begins_us: int, ends_us: int, scope: Scope, limit: int) -> RankedList:
        """Return what happened, or was said, from one moment until another, the latest first."""
        ...


class Tally(NamedTuple):
    """How many results were taken as they were, taken with changes, and turned down."""

    accepted: int = 0
    modified: int = 0
    dismissed: int = 0


class Feedback(Protocol):
    """Knows what became of results."""

    def tally(self) -> Tally:
        """Count the feedback of the caller."""
        ...

    def frozen(self) -> float | None:
        """Return how far the weights were moved when the caller froze them; None while they are not."""
        ...


class TokenIndex(Protocol):
    """Keeps the vectors of each passage's tokens, for late interaction."""

    def of(
        self, model: str, places: Sequence[tuple[str, int]]
    ) -> Mapping[tuple[str, int], TokenCodes]:
        """Return the tokens of passages, by memory id and ordinal; those that have none are left out."""
        ...


class GraphIndex(Protocol):
    """Finds memories by the links between them."""

    def link(self, a: str, b: str, strength: float, kind: str) -> None:
        """Connect two memories."""
        ...

    def unlink(self, a: str, b: str, kind: str | None) -> int:
        """Remove the links between two memories; return how many."""
        ...

    def linked(self, ids: Sequence[str], scope: Scope, kind: str) -> Mapping[str, tuple[str, ...]]:
        """Return for each of these memories what it is linked to by one kind, strongest first."""
        ...

    def walk(self, seeds: Sequence[str], scope: Scope, depth: int, limit: int) -> list[Neighbor]:
        """Return what can be reached from the seeds, best path first; no seed reaches itself."""
        ...


class Projected(NamedTuple):
    """A memory as a server has a copy of it: what filters ask of it, and its vectors where it keeps those.

    `topics` are tokens of the index, `vectors` are model, ordinal of the passage and float32 values.
    """

    id: str
    namespace: str
    type: str
    topics: tuple[str, ...]
    collection: str | None
    session: str | None
    owner: str | None
    agent: str | None
    domain_label: str | None
    created_us: int
    valid_from_us: int | None
    valid_until_us: int | None
    vectors: tuple[tuple[str, int, Any], ...] = ()


class Edge(NamedTuple):
    """A link as it stands in the truth."""

    a: str
    b: str
    kind: str
    strength: float


class Projection(Protocol):
    """A server that holds a copy of one tier. To put the same twice does no harm.

    Errors of the server are Unavailable.
    """

    tier: str
    place: str

    def put(self, memories: Sequence[Projected]) -> None:
        """Let the server know these memories as they are now, in place of what it knew of them."""
        ...

    def remove(self, ids: Sequence[str]) -> None:
        """Let the server forget memories, with their vectors and links."""
        ...

    def put_edges(self, pairs: Sequence[tuple[str, str]], edges: Sequence[Edge]) -> None:
        """Let these be all the links between each of these pairs; a tier without links has none."""
        ...

    def clear(self) -> None:
        """Let the server forget all of this store."""
        ...

    def count(self) -> int:
        """Return how many memories of this store the server knows."""
        ...

    def ping(self) -> None:
        """Ask for next to nothing."""
        ...


class Codec(Protocol):
    """How texts, vectors and tokens look in the file."""

    name: str

    def seal(self, text: str) -> str | bytes:
        """Return a text as it is stored."""
        ...

    def unseal(self, stored: str | bytes) -> str:
        """Return a stored text as it was given."""
        ...

    def seal_vector(self, vector: bytes) -> bytes:
        """Return a vector's float32 bytes as they are stored."""
        ...

    def unseal_vector(self, stored: bytes) -> bytes:
        """Return the float32 bytes of a stored vector."""
        ...

    def token(self, token: str) -> str:
        """Return a keyword token or topic as it is indexed; the same token always gives the same."""
        ...
