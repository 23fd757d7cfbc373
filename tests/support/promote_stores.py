"""A store that holds something of every kind, so that nothing can be left behind unseen."""

from __future__ import annotations

from pathlib import Path

from fakes import TokenEmbedder

import scrubjay
from scrubjay.storage.database import Database

WORDS = "kettle teapot harbour lantern orchard sparrow violin glacier copper meadow".split()


def furnish(path: Path, folder: Path, memories: int = 60) -> None:
    """Fill a store by its verbs."""
    folder.mkdir()
    (folder / "a.md").write_text(
        "---\ntags: [sea]\n---\n# Harbours\n\nSee [[b]] and the harbour.\n\n## Ships\n\nMany.\n",
        encoding="utf-8",
    )
    (folder / "b.md").write_text("# Boats\n\nA boat in the harbour.\n", encoding="utf-8")
    (folder / "c.md").write_bytes(b"\x80\x81\x82 no text")
    with scrubjay.open(path, embedder=TokenEmbedder(32), user="ann") as store:
        store.add_many(
            {
                "text": f"The {WORDS[n % 10]} of day {n} is near the {WORDS[(n * 7 + 3) % 10]}",
                "id": f"m{n}",
                "topics": [WORDS[n % 3], "daily life"],
                "title": f"Day {n}",
                "metadata": {"n": n},
                "domain": "Größe",
                "severity": "warning",
            }
            for n in range(memories)
        )
        store.add("A NUL \0 and a SUBSTITUTE \x1a0, 字 and 🐦", id="odd", source="C:\\odd\0name")
        store.add("The violin is to be tuned", id="task", type="task")
        store.ingest(folder)
        for said in ("Is the kettle on?", "Yes, it is.", "Then I will come."):
            store.add_message(said, session="tea", agent="robin")
        store.done("task")
        store.link("m1", "m2", 0.4, kind="related")
        store.link("m2", "m3", 0.7, kind="supersedes")
        store.feedback("what sings?", "m5", "accepted")
        store.freeze_weights("vault")
        store.api_keys.create("robin", scopes=["write"], tenant="acme", user="ann", expires="2w")
        store.create_collection("crew")
        store.share("crew", "ben", "writer")
        store.publish("m4", "crew")
        store.update("m7", text="The sparrow of day 7 flew away")
        store.forget("m8")
        store.pending(wait=True)


ROWS = (
    "INSERT INTO spans (fact, message, start, stop, text) SELECT f.n, m.n, 0, 5, 'Is' || char(0) || 'on'"
    " FROM memories AS f, memories AS m WHERE f.id = 'm1' AND m.text = 'Is the kettle on?'",
    "INSERT INTO extractions (message, outcome, model, tries, reason, at_us, leased_until_s)"
    " SELECT n, 'waiting', 'some-model', 1, NULL, 5, 99e9 FROM memories WHERE text = 'Yes, it is.'",
    "INSERT OR REPLACE INTO wanting (model, chunk, leased_until_s, tries, reason, asked)"
    " SELECT 1, max(n), 99e9, 2, 'no answer', 7 FROM chunks",
    "INSERT INTO kept (kind, key, value, at_us) VALUES ('answer', 'k', 'a' || char(0) || 'b', 9)",
    "INSERT INTO rotations VALUES (1, 1, 8, 100, x'00ff', 50, 10, 0.987654321, 3)",
    "INSERT INTO hits (hour_us, tier, count) VALUES (3600000000, 'keyword', 12)",
    "INSERT INTO uncompared SELECT n FROM memories WHERE id = 'm9'",
    "INSERT INTO refused SELECT a.n, b.n FROM memories AS a, memories AS b"
    " WHERE a.id = 'm1' AND b.id = 'm2'",
    "INSERT INTO unlinked SELECT n FROM memories WHERE id = 'm9'",
    "INSERT OR IGNORE INTO unsketched SELECT max(n) FROM vectors",
    "INSERT INTO parted SELECT a.n, b.n FROM memories AS a, memories AS b"
    " WHERE a.id = 'm20' AND b.id = 'm21'",
    "INSERT INTO targets SELECT n, 'b', 'wiki', 'b' FROM memories WHERE id = 'm1'",
    "INSERT INTO targets SELECT n, 'b', 'wiki', 'b' FROM memories WHERE id = 'm1'",
)


def complete(db: Database) -> None:
    """Add rows that only models, or much time, would make."""
    with db.write() as connection:
        for row in ROWS:
            connection.execute(row)
