"""Schema of the database, as numbered migrations, oldest first.

A released migration is never edited; a change is a new one. Each runs in one transaction together
with the step of the version number, so a killed upgrade leaves the older version whole.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable

APPLICATION_ID = 0x5343_4A59  # "SCJY", so that `file` and we recognize a store

_FIELDS = ("title", "text", "topics", "context", "ident")

# `text.analysis` makes the tokens; FTS5 only splits at spaces, so all other ASCII marks are letters.
_TOKENIZER = "ascii tokenchars '!#$%&()*+,-./:;<=>?@[\\]^_`{|}~'"

# What happened in a change of the earlier table `history`, in a word.
HISTORY_WORD = (
    "CASE WHEN h.after = h.before || '_done' THEN 'done' WHEN h.before = h.after || '_done' THEN 'undone'"
    " WHEN h.change = 'valid_until' AND h.after <> '' THEN 'superseded' ELSE 'edited' END"
)


def m001_memories(db: sqlite3.Connection) -> None:
    """Records, their chunks, vectors, keyword index, links and feedback."""
    for statement in (
        "CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID",
        # Times are microseconds since 1970 in UTC.
        """CREATE TABLE memories (
            n INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            namespace TEXT NOT NULL,
            type TEXT NOT NULL,
            text NOT NULL,
            title NOT NULL,
            context NOT NULL,
            topics NOT NULL,
            metadata NOT NULL,
            collection TEXT,
            session TEXT,
            role TEXT,
            owner TEXT,
            agent TEXT,
            severity TEXT,
            domain TEXT,
            source,
            language TEXT NOT NULL,
            content_hash TEXT NOT NULL,
            created_us INTEGER NOT NULL,
            updated_us INTEGER NOT NULL,
            event_us INTEGER,
            valid_from_us INTEGER,
            valid_until_us INTEGER
        )""",
        "CREATE INDEX memories_by_hash ON memories (content_hash, type, namespace)",
        "CREATE INDEX memories_by_age ON memories (namespace, updated_us)",
        "CREATE INDEX memories_by_session ON memories (session) WHERE session IS NOT NULL",
        """CREATE TABLE topics (
            topic TEXT NOT NULL,
            memory INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
            PRIMARY KEY (topic, memory)
        ) WITHOUT ROWID""",
        "CREATE INDEX topics_by_memory ON topics (memory)",
        """CREATE TABLE chunks (
            n INTEGER PRIMARY KEY AUTOINCREMENT,
            memory INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
            ordinal INTEGER NOT NULL,
            start INTEGER NOT NULL,
            stop INTEGER NOT NULL,
            first_line INTEGER NOT NULL,
            last_line INTEGER NOT NULL,
            heading NOT NULL,
            UNIQUE (memory, ordinal)
        )""",
        "CREATE TABLE models (n INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, dims INTEGER NOT NULL)",
        """CREATE TABLE vectors (
            n INTEGER PRIMARY KEY AUTOINCREMENT,
            model INTEGER NOT NULL REFERENCES models ON DELETE CASCADE,
            chunk INTEGER NOT NULL REFERENCES chunks ON DELETE CASCADE,
            vector BLOB NOT NULL,
            UNIQUE (chunk, model)
        )""",
        # Tells the caches of other processes which vectors were deleted.
        "CREATE TABLE gone (n INTEGER PRIMARY KEY AUTOINCREMENT, vector INTEGER NOT NULL)",
        """CREATE TRIGGER vector_gone AFTER DELETE ON vectors BEGIN
            INSERT INTO gone (vector) VALUES (old.n);
        END""",
        # Embedding queue; a lease keeps two processes from doing the same work.
        """CREATE TABLE wanting (
            model INTEGER NOT NULL REFERENCES models ON DELETE CASCADE,
            chunk INTEGER NOT NULL REFERENCES chunks ON DELETE CASCADE,
            leased_until_s REAL NOT NULL DEFAULT 0,
            tries INTEGER NOT NULL DEFAULT 0,
            reason TEXT,
            PRIMARY KEY (model, chunk)
        ) WITHOUT ROWID""",
        "CREATE INDEX wanting_by_chunk ON wanting (chunk)",
        """CREATE TABLE edges (
            a INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
            b INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
            kind TEXT NOT NULL,
            strength REAL NOT NULL,
            made TEXT NOT NULL DEFAULT 'hand',
            PRIMARY KEY (a, b, kind)
        ) WITHOUT ROWID""",
        "CREATE INDEX edges_back ON edges (b)",
        """CREATE TABLE feedback (
            n INTEGER PRIMARY KEY,
            memory INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
            query NOT NULL,
            action TEXT NOT NULL,
            at_us INTEGER NOT NULL
        )""",
        "CREATE INDEX feedback_by_memory ON feedback (memory)",
        f'CREATE VIRTUAL TABLE words USING fts5({", ".join(_FIELDS)}, tokenize="{_TOKENIZER}")',
    ):
        db.execute(statement)


def m002_files(db: sqlite3.Connection) -> None:
    """What each ingested file looked like when it was read, so that only changes are read again."""
    db.execute(
        """CREATE TABLE files (
            memory INTEGER PRIMARY KEY REFERENCES memories ON DELETE CASCADE,
            path NOT NULL,
            size INTEGER NOT NULL,
            mtime_ns INTEGER NOT NULL,
            digest TEXT NOT NULL
        )"""
    )


def m003_folders(db: sqlite3.Connection) -> None:
    """Followed folders, skipped files, and the link targets of documents."""
    for statement in (
        # One file may contain several documents: `part` tells them apart.
        # A file is read again when another `reader` would read it now.
        "ALTER TABLE files ADD COLUMN part TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE files ADD COLUMN reader TEXT NOT NULL DEFAULT ''",
        "CREATE INDEX files_by_digest ON files (digest)",
        """CREATE TABLE left_out (
            n INTEGER PRIMARY KEY,
            namespace TEXT NOT NULL,
            path NOT NULL,
            collection TEXT,
            state TEXT NOT NULL,
            reason TEXT NOT NULL,
            size INTEGER NOT NULL,
            mtime_ns INTEGER NOT NULL,
            reader TEXT NOT NULL
        )""",
        """CREATE TABLE folders (
            n INTEGER PRIMARY KEY,
            namespace TEXT NOT NULL,
            path NOT NULL,
            collection TEXT NOT NULL,
            indexed_us INTEGER NOT NULL
        )""",
        # `name` is the last part of a link target: a new file of that name may match.
        """CREATE TABLE targets (
            memory INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
            name TEXT NOT NULL,
            kind TEXT NOT NULL,
            target NOT NULL
        )""",
        "CREATE INDEX targets_by_memory ON targets (memory)",
        "CREATE INDEX targets_by_name ON targets (name)",
        "CREATE INDEX memories_by_language ON memories (language)",
        "CREATE INDEX memories_by_collection ON memories (collection) WHERE collection IS NOT NULL",
    ):
        db.execute(statement)


def m004_tokens(db: sqlite3.Connection) -> None:
    """Token vectors of chunks for late interaction, and cached answers of slow models."""
    for statement in (
        # In a table of their own: a scan of the vectors must not read past them. In parts, of which
        # four fill a page: of whole ones only one would fit, and half of the page would be empty.
        """CREATE TABLE tokens (
            chunk INTEGER NOT NULL REFERENCES chunks ON DELETE CASCADE,
            model INTEGER NOT NULL REFERENCES models ON DELETE CASCADE,
            part INTEGER NOT NULL,
            codes BLOB NOT NULL,
            PRIMARY KEY (chunk, model, part)
        ) WITHOUT ROWID""",
        # Width of a model's stored token vectors; 0 while it has given none.
        "ALTER TABLE models ADD COLUMN token_dims INTEGER NOT NULL DEFAULT 0",
        """CREATE TABLE kept (
            kind TEXT NOT NULL,
            key TEXT NOT NULL,
            value NOT NULL,
            at_us INTEGER NOT NULL,
            PRIMARY KEY (kind, key)
        ) WITHOUT ROWID""",
    ):
        db.execute(statement)


def m005_topics(db: sqlite3.Connection) -> None:
    """Topics as keyed hashes, their key, and the history of memory fields."""
    for statement in (
        # An encrypted store will have to store the key elsewhere.
        "CREATE TABLE keys (name TEXT PRIMARY KEY, key BLOB NOT NULL) WITHOUT ROWID",
        # `whole` is 1 where a topic is exactly that, 0 where it is a word of a longer one.
        """CREATE TABLE topic_hashes (
            hash BLOB NOT NULL,
            memory INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
            whole INTEGER NOT NULL,
            PRIMARY KEY (hash, memory)
        ) WITHOUT ROWID""",
        "CREATE INDEX topic_hashes_by_memory ON topic_hashes (memory)",
        # Old and new value: `add` may replace a memory in between, and adds no row here.
        """CREATE TABLE history (
            n INTEGER PRIMARY KEY,
            memory INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
            at_us INTEGER NOT NULL,
            change TEXT NOT NULL,
            before NOT NULL,
            after NOT NULL
        )""",
        "CREATE INDEX history_by_memory ON history (memory)",
    ):
        db.execute(statement)


def m006_people(db: sqlite3.Connection) -> None:
    """Shared collections, published copies, and sketches for near-duplicates."""
    for statement in (
        # Each collection has its own namespace.
        """CREATE TABLE collections (
            namespace TEXT PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            created_us INTEGER NOT NULL
        ) WITHOUT ROWID""",
        """CREATE TABLE members (
            person TEXT NOT NULL,
            namespace TEXT NOT NULL REFERENCES collections ON DELETE CASCADE,
            role TEXT NOT NULL,
            PRIMARY KEY (person, namespace)
        ) WITHOUT ROWID""",
        "CREATE INDEX members_by_namespace ON members (namespace)",
        # A copy that the author may not delete any more stays without its original.
        """CREATE TABLE published (
            copy INTEGER PRIMARY KEY REFERENCES memories ON DELETE CASCADE,
            memory INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE
        )""",
        "CREATE INDEX published_by_memory ON published (memory)",
        # Bits of the direction of a vector: each third of them is a bucket of similar vectors.
        """CREATE TABLE sketches (
            vector INTEGER PRIMARY KEY REFERENCES vectors ON DELETE CASCADE,
            memory INTEGER NOT NULL,
            bits INTEGER NOT NULL
        )""",
        "CREATE INDEX sketches_first ON sketches (bits & 1048575)",
        "CREATE INDEX sketches_second ON sketches (bits >> 20 & 1048575)",
        "CREATE INDEX sketches_third ON sketches (bits >> 40 & 1048575)",
        # Vectors of first passages that are not compared yet; at first all of the file.
        """CREATE TABLE unsketched (
            vector INTEGER PRIMARY KEY REFERENCES vectors ON DELETE CASCADE
        )""",
        "INSERT INTO unsketched SELECT v.n FROM chunks AS c JOIN vectors AS v ON v.chunk = c.n"
        " WHERE c.ordinal = 0",
        """CREATE TRIGGER vector_made AFTER INSERT ON vectors BEGIN
            INSERT OR IGNORE INTO unsketched
            SELECT new.n FROM chunks WHERE n = new.chunk AND ordinal = 0;
        END""",
        # Ordinals change for a moment when a memory changes. A passage that stays may have been the
        # only one, and may not be any more.
        """CREATE TRIGGER chunk_moved AFTER UPDATE OF ordinal ON chunks WHEN new.ordinal <= 0 BEGIN
            DELETE FROM sketches WHERE vector IN (SELECT n FROM vectors WHERE chunk = new.n);
            INSERT OR IGNORE INTO unsketched
            SELECT n FROM vectors WHERE chunk = new.n AND new.ordinal = 0;
        END""",
        """CREATE TRIGGER memory_moved AFTER UPDATE OF namespace, type ON memories
        WHEN old.namespace <> new.namespace
            OR (old.type IN ('message', 'document')) <> (new.type IN ('message', 'document'))
        BEGIN
            INSERT OR IGNORE INTO unsketched
            SELECT v.n FROM chunks AS c JOIN vectors AS v ON v.chunk = c.n
            WHERE c.memory = new.n AND c.ordinal = 0;
        END""",
        """CREATE TRIGGER compared_anew AFTER INSERT ON unsketched BEGIN
            DELETE FROM sketches WHERE vector = new.vector;
        END""",
        """CREATE TRIGGER sketch_gone AFTER DELETE ON sketches BEGIN
            DELETE FROM edges WHERE a = old.memory AND made = 'near';
            DELETE FROM edges WHERE b = old.memory AND made = 'near';
        END""",
    ):
        db.execute(statement)


def m007_followers(db: sqlite3.Connection) -> None:
    """The user who follows a folder: it is read with the rights of that user."""
    db.execute("ALTER TABLE folders ADD COLUMN person TEXT NOT NULL DEFAULT ''")


def m008_entries(db: sqlite3.Connection) -> None:
    """Token counts, the user of feedback, and indexes of validity windows."""
    for statement in (
        # The token "" counts the memories themselves. Filled when a store is opened for the first time.
        """CREATE TABLE terms (
            token TEXT NOT NULL,
            namespace TEXT NOT NULL,
            held_by INTEGER NOT NULL,
            PRIMARY KEY (token, namespace)
        ) WITHOUT ROWID""",
        "ALTER TABLE feedback ADD COLUMN person TEXT NOT NULL DEFAULT ''",
        # Every search counts them.
        "CREATE INDEX feedback_by_person ON feedback (person, action)",
        # Shift of a user's weights by feedback at the time of freezing them.
        """CREATE TABLE frozen (
            person TEXT PRIMARY KEY,
            shift REAL NOT NULL,
            at_us INTEGER NOT NULL
        ) WITHOUT ROWID""",
        "CREATE INDEX memories_by_type ON memories (type)",
        "CREATE INDEX memories_by_beginning ON memories (valid_from_us)"
        " WHERE valid_from_us IS NOT NULL",
        "CREATE INDEX memories_by_end ON memories (valid_until_us) WHERE valid_until_us IS NOT NULL",
    ):
        db.execute(statement)


def m009_conversations(db: sqlite3.Connection) -> None:
    """Ends of events, order of messages, extraction of facts, and rotations of vectors."""
    for statement in (
        "ALTER TABLE memories ADD COLUMN event_until_us INTEGER",
        "CREATE INDEX messages_in_order ON memories (namespace, session, owner, agent, created_us, n)"
        " WHERE type = 'message' AND session IS NOT NULL",
        "CREATE INDEX messages_by_age ON memories (created_us) WHERE type = 'message'",
        "CREATE INDEX memories_by_moment ON memories (coalesce(event_us, created_us))",
        "CREATE INDEX memories_by_event_end ON memories (event_until_us)"
        " WHERE event_until_us IS NOT NULL",
        # The text of a passage may change while a model reads it: then a new vector is requested.
        "ALTER TABLE wanting ADD COLUMN asked INTEGER NOT NULL DEFAULT 0",
        # Rotates a model's vectors so that their variance comes first; no matrix where the model's vectors
        # can be cut as they are. `recall` is that of a shortlist by the first `short_dims` numbers, in
        # `trials` trials, measured when it was fitted.
        """CREATE TABLE rotations (
            model INTEGER PRIMARY KEY REFERENCES models ON DELETE CASCADE,
            version INTEGER NOT NULL,
            short_dims INTEGER NOT NULL,
            fitted_on INTEGER NOT NULL,
            matrix BLOB,
            shortlist INTEGER NOT NULL,
            trials INTEGER NOT NULL,
            recall REAL NOT NULL,
            at_us INTEGER NOT NULL
        )""",
        # Outcome of the extraction of a message: facts, partly, nothing, or failed with the reason;
        # waiting while it is leased. Only with the outcome facts are these shown instead of the message.
        """CREATE TABLE extractions (
            message INTEGER PRIMARY KEY REFERENCES memories ON DELETE CASCADE,
            outcome TEXT NOT NULL,
            model TEXT NOT NULL,
            tries INTEGER NOT NULL DEFAULT 0,
            reason TEXT,
            at_us INTEGER NOT NULL,
            leased_until_s REAL NOT NULL DEFAULT 0
        )""",
        "CREATE INDEX extractions_leased ON extractions (leased_until_s) WHERE leased_until_s > 0",
        # A changed message is extracted again.
        """CREATE TRIGGER message_changed AFTER UPDATE OF content_hash ON memories
        WHEN old.type = 'message' AND old.content_hash <> new.content_hash
        BEGIN
            DELETE FROM extractions WHERE message = new.n;
        END""",
        # The words of a message from which a fact was extracted, and its wording there.
        """CREATE TABLE spans (
            fact INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
            message INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
            start INTEGER NOT NULL,
            stop INTEGER NOT NULL,
            text NOT NULL,
            PRIMARY KEY (fact, message, start)
        ) WITHOUT ROWID""",
        "CREATE INDEX spans_by_message ON spans (message)",
    ):
        db.execute(statement)


def m010_servers(db: sqlite3.Connection) -> None:
    """Replicas, their outbox, automatic links, and hits by source."""
    for statement in (
        # A domain as filters compare it: Postgres folds case differently.
        "ALTER TABLE memories ADD COLUMN domain_label TEXT",
        "UPDATE memories SET domain_label = label(domain) WHERE domain IS NOT NULL",
        "INSERT INTO keys (name, key) VALUES ('store', randomblob(16))",
        # The replicas: `vectors`, `graph`. Without a row here, nothing is written to the outbox for it.
        # One process at a time feeds a replica, under a lease.
        """CREATE TABLE projections (
            tier TEXT PRIMARY KEY,
            place TEXT NOT NULL,
            leased_by TEXT NOT NULL DEFAULT '',
            leased_until_s REAL NOT NULL DEFAULT 0
        ) WITHOUT ROWID""",
        # What changed: a memory, or with `other` the links between two. Not how: the worker sends the
        # present state, so that sending it twice is harmless. With '' as `other`, a memory was deleted
        # with its links: another one of its id may exist by then, without them. Without an id, the
        # replica is to delete everything first.
        """CREATE TABLE outbox (
            n INTEGER PRIMARY KEY AUTOINCREMENT,
            tier TEXT NOT NULL,
            id TEXT NOT NULL,
            other TEXT
        )""",
        "CREATE INDEX outbox_by_tier ON outbox (tier, n)",
        """CREATE TRIGGER tell_new AFTER INSERT ON memories BEGIN
            INSERT INTO outbox (tier, id) SELECT tier, new.id FROM projections WHERE tier = 'graph';
        END""",
        """CREATE TRIGGER tell_changed AFTER UPDATE ON memories BEGIN
            INSERT INTO outbox (tier, id) SELECT tier, new.id FROM projections;
        END""",
        """CREATE TRIGGER tell_gone AFTER DELETE ON memories BEGIN
            INSERT INTO outbox (tier, id, other)
            SELECT tier, old.id, CASE tier WHEN 'graph' THEN '' END FROM projections;
        END""",
        """CREATE TRIGGER tell_vector AFTER INSERT ON vectors BEGIN
            INSERT INTO outbox (tier, id) SELECT p.tier, m.id FROM projections AS p, chunks AS c
            JOIN memories AS m ON m.n = c.memory WHERE p.tier = 'vectors' AND c.n = new.chunk;
        END""",
        """CREATE TRIGGER tell_vector_gone AFTER DELETE ON vectors BEGIN
            INSERT INTO outbox (tier, id) SELECT p.tier, m.id FROM projections AS p, chunks AS c
            JOIN memories AS m ON m.n = c.memory WHERE p.tier = 'vectors' AND c.n = old.chunk;
        END""",
        *(
            f"""CREATE TRIGGER tell_link_{event} AFTER {event} ON edges BEGIN
            INSERT INTO outbox (tier, id, other) SELECT p.tier, x.id, y.id
            FROM projections AS p, memories AS x, memories AS y
            WHERE p.tier = 'graph' AND x.n = {row}.a AND y.n = {row}.b;
        END"""
            for event, row in (("insert", "new"), ("update", "new"), ("delete", "old"))
        ),
        # Memories that wait for automatic links, in a store whose profile uses them: it has the key
        # `links` in `meta`.
        """CREATE TABLE unlinked (
            memory INTEGER PRIMARY KEY REFERENCES memories ON DELETE CASCADE
        )""",
        """CREATE TRIGGER link_later AFTER INSERT ON vectors BEGIN
            INSERT OR IGNORE INTO unlinked SELECT c.memory FROM meta, chunks AS c
            WHERE meta.key = 'links' AND c.n = new.chunk;
        END""",
        # A memory that moves to another namespace is linked again.
        """CREATE TRIGGER link_moved AFTER UPDATE OF namespace ON memories
        WHEN old.namespace <> new.namespace
        BEGIN
            DELETE FROM edges WHERE a = new.n AND made = 'auto';
            DELETE FROM edges WHERE b = new.n AND made = 'auto';
            INSERT OR IGNORE INTO unlinked SELECT new.n FROM meta WHERE key = 'links';
        END""",
        # Pairs that a user has unlinked, the lower number first: they are not linked automatically.
        """CREATE TABLE parted (
            a INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
            b INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
            PRIMARY KEY (a, b)
        ) WITHOUT ROWID""",
        "CREATE INDEX parted_back ON parted (b)",
        # Number of results of each source, and of searches (tier ''), by the hour.
        """CREATE TABLE hits (
            hour_us INTEGER NOT NULL,
            tier TEXT NOT NULL,
            count INTEGER NOT NULL,
            PRIMARY KEY (hour_us, tier)
        ) WITHOUT ROWID""",
    ):
        db.execute(statement)


def m011_access(db: sqlite3.Connection) -> None:
    """API keys. The table `tokens` has token vectors."""
    # A secret is 256 random bits, which cannot be guessed from a plain SHA-256: neither salt nor a slow
    # hash would add anything, and every request needs the hash.
    db.execute(
        """CREATE TABLE access (
            name TEXT PRIMARY KEY,
            hash TEXT NOT NULL UNIQUE,
            scopes TEXT NOT NULL,
            tenant TEXT,
            person TEXT,
            created_us INTEGER NOT NULL,
            expires_us INTEGER,
            last_used_us INTEGER
        ) WITHOUT ROWID"""
    )


def m012_model_roles(db: sqlite3.Connection) -> None:
    """Roles of models: links, near-duplicates and replicas follow the main model's vectors alone."""
    db.execute("ALTER TABLE models ADD COLUMN role TEXT NOT NULL DEFAULT 'main'")
    # How a model that the store itself has chosen is loaded; empty for one that settings name.
    db.execute("ALTER TABLE models ADD COLUMN spec TEXT NOT NULL DEFAULT ''")
    is_main = "(SELECT role FROM models WHERE n = {}.model) = 'main'".format
    told = (
        "INSERT INTO outbox (tier, id) SELECT p.tier, m.id FROM projections AS p, chunks AS c"
        " JOIN memories AS m ON m.n = c.memory WHERE p.tier = 'vectors' AND c.n = {}.chunk;"
    ).format
    for name, trigger in {
        "vector_made": f"""AFTER INSERT ON vectors WHEN {is_main("new")} BEGIN
            INSERT OR IGNORE INTO unsketched
            SELECT new.n FROM chunks WHERE n = new.chunk AND ordinal = 0;
        END""",
        "chunk_moved": f"""AFTER UPDATE OF ordinal ON chunks WHEN new.ordinal <= 0 BEGIN
            DELETE FROM sketches WHERE vector IN (SELECT n FROM vectors WHERE chunk = new.n);
            INSERT OR IGNORE INTO unsketched SELECT v.n FROM vectors AS v
            WHERE v.chunk = new.n AND new.ordinal = 0 AND {is_main("v")};
        END""",
        "memory_moved": f"""AFTER UPDATE OF namespace, type ON memories
        WHEN old.namespace <> new.namespace
            OR (old.type IN ('message', 'document')) <> (new.type IN ('message', 'document'))
        BEGIN
            INSERT OR IGNORE INTO unsketched
            SELECT v.n FROM chunks AS c JOIN vectors AS v ON v.chunk = c.n
            WHERE c.memory = new.n AND c.ordinal = 0 AND {is_main("v")};
        END""",
        "tell_vector": f"AFTER INSERT ON vectors WHEN {is_main('new')} BEGIN {told('new')} END",
        "tell_vector_gone": (
            f"AFTER DELETE ON vectors WHEN {is_main('old')} BEGIN {told('old')} END"
        ),
        "link_later": f"""AFTER INSERT ON vectors WHEN {is_main("new")} BEGIN
            INSERT OR IGNORE INTO unlinked SELECT c.memory FROM meta, chunks AS c
            WHERE meta.key = 'links' AND c.n = new.chunk;
        END""",
    }.items():
        db.execute(f"DROP TRIGGER IF EXISTS {name}")
        db.execute(f"CREATE TRIGGER {name} {trigger}")


def m013_changes(db: sqlite3.Connection) -> None:
    """Changes: when a link was made, memories that are not compared yet, pairs that were refused."""
    queued = "INSERT OR IGNORE INTO uncompared SELECT new.n FROM meta WHERE key = 'changes';"
    for statement in (
        # Null for links that were made before, and for automatic ones of other kinds.
        "ALTER TABLE edges ADD COLUMN made_us INTEGER",
        # A search asks whether there is any link that says what replaced what.
        "CREATE INDEX edges_changes ON edges (b) WHERE kind IN ('supersedes', 'updates')",
        # Memories to be compared with earlier ones, in a store that looks for changes: it has the key
        # `changes` in `meta`.
        """CREATE TABLE uncompared (
            memory INTEGER PRIMARY KEY REFERENCES memories ON DELETE CASCADE
        )""",
        f"CREATE TRIGGER compare_new AFTER INSERT ON memories BEGIN {queued} END",
        f"""CREATE TRIGGER compare_changed
        AFTER UPDATE OF content_hash, namespace, created_us ON memories
        WHEN old.content_hash <> new.content_hash OR old.namespace <> new.namespace
            OR old.created_us <> new.created_us
        BEGIN
            DELETE FROM edges WHERE a = new.n AND made = 'change';
            DELETE FROM edges WHERE b = new.n AND made = 'change';
            {queued}
        END""",
        # Pairs of which a user has said that neither updates the other, the lower number first.
        """CREATE TABLE refused (
            a INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
            b INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
            PRIMARY KEY (a, b)
        ) WITHOUT ROWID""",
        "CREATE INDEX refused_back ON refused (b)",
    ):
        db.execute(statement)


def m014_versions(db: sqlite3.Connection) -> None:
    """Versions of memories, which replace the history of single fields."""
    # `earlier` has the fields that a change replaced, as JSON; `namespace` is where the memory was.
    # Numbered for each memory in the order of writing: a clock may go back.
    db.execute(
        """CREATE TABLE versions (
            memory INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
            n INTEGER NOT NULL,
            at_us INTEGER NOT NULL,
            what TEXT NOT NULL,
            person TEXT NOT NULL,
            namespace TEXT NOT NULL,
            can_undo INTEGER NOT NULL,
            earlier NOT NULL,
            PRIMARY KEY (memory, n)
        ) WITHOUT ROWID"""
    )
    # Changes of other fields were not stored between these, so they cannot be undone in order.
    for row in db.execute(
        "SELECT h.memory, row_number() OVER (PARTITION BY h.memory ORDER BY h.n), h.at_us,"
        f" {HISTORY_WORD}, '', m.namespace, 0, h.change, h.before"
        " FROM history AS h JOIN memories AS m ON m.n = h.memory"
    ).fetchall():
        *stored, field, before = row
        earlier = None if field == "valid_until" and not before else before
        db.execute(
            "INSERT INTO versions VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (*stored, json.dumps({field: earlier}, ensure_ascii=False)),
        )
    db.execute("DROP TABLE history")


# Names of FTS5's columns in its table of rows, and ours.
_ROW_COLUMNS = {
    "id": "memory",
    **{f"c{at}": field for at, field in enumerate(_FIELDS)},
}


def _refuse_behind_the_index(table: str, number: str) -> tuple[str, ...]:
    """Return triggers that refuse a change of the lines of a memory that is not in `unindexed`: a process of
    an older version, which has the file open, would change them behind our index."""
    return tuple(
        f"""CREATE TRIGGER words_{event} BEFORE {event} ON {table}
        WHEN NOT EXISTS (SELECT 1 FROM unindexed WHERE memory = {row}.{number})
        BEGIN SELECT RAISE(ABORT, 'a newer scrubjay has opened this store'); END"""
        for event, row in (("insert", "new"), ("update", "new"), ("delete", "old"))
    )


# Makes the rows of FTS5's table the table `words`; the rest of it stays as `words_fts5`, to be deleted.
WORDS_WITHOUT_FTS5 = (
    *(f"DROP TRIGGER IF EXISTS words_{event}" for event in ("insert", "update", "delete")),
    "ALTER TABLE words RENAME TO words_fts5",
    "ALTER TABLE words_fts5_content RENAME TO words",
    *(
        f"ALTER TABLE words RENAME COLUMN {before} TO {after}"
        for before, after in _ROW_COLUMNS.items()
    ),
    *_refuse_behind_the_index("words", "memory"),
    "INSERT INTO meta (key, value) VALUES ('postings', 1)",
)


def m015_postings(db: sqlite3.Connection) -> None:
    """Our own keyword index. FTS5's answers until all memories are in it; a new file has none."""
    for statement in (
        # Blocks of postings by token. `target` is the segment that one is being merged into.
        """CREATE TABLE segments (
            n INTEGER PRIMARY KEY,
            memories INTEGER NOT NULL,
            first INTEGER NOT NULL,
            last INTEGER NOT NULL,
            target INTEGER
        )""",
        """CREATE TABLE postings (
            segment INTEGER NOT NULL,
            term NOT NULL,
            first INTEGER NOT NULL,
            span INTEGER NOT NULL,
            count INTEGER NOT NULL,
            head BLOB NOT NULL,
            body BLOB NOT NULL,
            PRIMARY KEY (segment, term, first)
        ) WITHOUT ROWID""",
        # Postings of tokens that few memories of a segment hold; `term` is the first of a page.
        """CREATE TABLE posting_pages (
            segment INTEGER NOT NULL,
            term NOT NULL,
            data BLOB NOT NULL,
            PRIMARY KEY (segment, term)
        ) WITHOUT ROWID""",
        # Memories whose lines are written, and which are in no segment.
        "CREATE TABLE unindexed (memory INTEGER PRIMARY KEY)",
    ):
        db.execute(statement)
    if db.execute("SELECT 1 FROM words_content LIMIT 1").fetchone() is None:
        for statement in (*WORDS_WITHOUT_FTS5, "DROP TABLE words_fts5"):
            db.execute(statement)
        return
    db.execute("INSERT INTO unindexed (memory) SELECT id FROM words_content")
    db.executemany(
        "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)",
        zip(("indexed_memories", "indexed_tokens"), _size_of_fts5(db), strict=True),
    )
    for statement in _refuse_behind_the_index("words_content", "id"):
        db.execute(statement)


def _size_of_fts5(db: sqlite3.Connection) -> tuple[int, int]:
    """Return the number of rows and of tokens from FTS5's record of averages: one number for the rows,
    and one for the tokens of each column."""
    row = db.execute("SELECT block FROM words_data WHERE id = 1").fetchone()
    numbers = [0]
    for byte in row[0] if row else b"":
        numbers[-1] = numbers[-1] << 7 | byte & 0x7F
        if byte < 0x80:
            numbers.append(0)
    return numbers[0], sum(numbers[1:])


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (
    m001_memories,
    m002_files,
    m003_folders,
    m004_tokens,
    m005_topics,
    m006_people,
    m007_followers,
    m008_entries,
    m009_conversations,
    m010_servers,
    m011_access,
    m012_model_roles,
    m013_changes,
    m014_versions,
    m015_postings,
)
SCHEMA_VERSION = len(MIGRATIONS)
