"""Verbs about the store itself: status, indexes, profiles, tiers; and the commands that operate it."""

from __future__ import annotations

from functools import partial
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.search.profiles import get, names
from scrubjay.store import Store
from scrubjay.surfaces.render import json as render
from scrubjay.surfaces.render.json import Json
from scrubjay.surfaces.verbs import ADMIN, READ, WRITE, Command, Given, Param, command_of, verb
from scrubjay.surfaces.verbs.kinds import (
    ANY_NUMBER,
    BOUND,
    COUNT,
    FLAG,
    LIMIT,
    MAPPING,
    NAME,
    TEXT,
    TEXTS,
    choice,
    number,
)
from scrubjay.surfaces.verbs.params import SETS, TIERS, limit
from scrubjay.surfaces.verbs.search import named

TOOL_SETS = ("default", "read", "chatgpt", "full")
RECALL_TAGS = ("text", "all")
_WAIT_S, _MOST_WAIT_S = 30.0, 60
_SECONDS = number(
    f"a number of seconds, 0 to {_MOST_WAIT_S}",
    {"minimum": 0, "maximum": _MOST_WAIT_S},
    lambda value: 0 <= value <= _MOST_WAIT_S,
)


tiers_json = partial(render.listing, "tiers")
_WHAT = Param("what", choice("words", "vectors", "graph"), "only this index", usage="[what]")
_DROP = Param("drop", FLAG, "stop sending changes to the replica of this index")
_RECALL_TAGS_OF_A_SERVER = Param(
    "recall_tags",
    TEXT,
    "where MCP marks stored text as data: text, or all for structuredContent, too (default: text)",
    usage="--recall-tags WHERE",
)


@verb(READ, "status")
def status(store: Store, _: Given) -> Any:
    """Show what is stored, the models, and what is waiting."""
    return store.status()


@verb(
    WRITE,
    "pending",
    Param("wait", FLAG, "false: only count (default: true)"),
    Param("timeout_s", _SECONDS, "maximum number of seconds to wait", default=_WAIT_S),
    Param(
        "further",
        FLAG,
        "false: do not wait for multilingual vectors, nor the index of the next model",
    ),
    aliases={"timeout": "timeout_s"},
)
def pending(store: Store, given: Given) -> Json:
    """Wait until everything stored is embedded, and return how many chunks are not."""
    wait, timeout_s = given.get("wait", True), given.get("timeout_s", _WAIT_S)
    further = given.get("further", True)
    return {"pending": store.pending(wait, timeout_s=timeout_s, further=further)}


@verb(
    READ,
    "profiles",
    Param("name", NAME, "only this profile, such as gno:thorough"),
    Param("overrides", MAPPING, "changed numbers, such as {'rrf': {'k': 30}}"),
    aliases={"profile": "name"},
)
def profiles(_: Store, given: Given) -> Json:
    """List the profiles with their stages and numbers."""
    if "name" not in given:
        if given:
            raise InvalidInput("overrides change one profile; give its name")
        return render.profiles([get(name) for name in names()])
    with named():
        return render.profiles([get(given["name"], given.get("overrides"))])


@verb(
    READ,
    "hits",
    Param(
        "since",
        BOUND,
        "from this date or time on, or words such as yesterday",
        usage="--since TIME",
    ),
    aliases={"after": "since"},
    found=lambda counted: counted.searches,
)
def hits(store: Store, given: Given) -> Any:
    """Count the results of each source, by the hour."""
    return store.hits(**given)


@verb(READ, "tiers", shape=tiers_json)
def tiers(store: Store, _: Given) -> Any:
    """List the databases that are searched together, and their state."""
    return store.tiers()


@verb(READ, "servers", shape=partial(render.listing, "servers"))
def servers(store: Store, _: Given) -> Any:
    """List the replicas, and the changes that each still has to receive."""
    return store.servers()


@verb(ADMIN, "reindexed", _WHAT, _DROP)
def reindex(store: Store, given: Given) -> Any:
    """Rebuild the indexes from the stored memories."""
    return store.reindex(**given)


@verb(ADMIN, "doctor")
def doctor(store: Store, _: Given) -> Json:
    """Check the store and the server, and return the command that fixes each problem."""
    from scrubjay.ops.doctor.run import examine_store

    return render.findings(examine_store(store))


def _move(name: str, source: str, target: str, to: Param, kept: str) -> Command:
    return Command(
        name,
        f"move the store from {source} to {target} while it is in use",
        (to._replace(required=True), Param("keep", FLAG, f"keep {kept}, as a copy")),
        run="transfer:move",
        description=f"Move the store from {source} to {target} while it is in use: copy it, compare every"
        " row and the results of searches, then switch. Run it again to resume after an interruption.",
    )


COMMANDS = (
    command_of(status),
    Command(
        "doctor",
        "check every part and show how to fix problems",
        (
            Param(
                "repair",
                FLAG,
                "fix what can be fixed first: rebuild indexes, rescue the rows of a damaged file into a"
                " new one, remove the access of other users to your files",
            ),
            Param("dry_run", FLAG, "with --repair: show what is damaged, and change nothing"),
        ),
        run="operate:doctor",
    ),
    Command(
        "verify",
        "check every row, index, vector and link of the store",
        run="operate:verify",
        description="Check the whole store: the file itself, every memory against the hash of its text,"
        " the keyword index, passages, vectors, token vectors, topics, counts and links. Nothing is"
        " changed. The exit code is 1 if anything is wrong; then `scrubjay doctor --repair` repairs it.",
    ),
    command_of(hits, embed=False),
    Command(
        "profiles",
        "list profiles with their stages and numbers",
        (Param("name", NAME, "show this profile", usage="[name]"), SETS),
        run="operate:profiles",
    ),
    Command(
        "tiers", "list the databases that are searched together", (TIERS,), run="operate:tiers"
    ),
    Command(
        "reindex",
        "rebuild indexes from the stored memories",
        (_WHAT, _DROP),
        run="transfer:reindex",
    ),
    Command(
        "backup",
        "copy the database into another file while it is in use",
        (
            Param("path", TEXT, "the file to write; it is a complete store", usage="path"),
            Param("force", FLAG, "replace a file that exists"),
        ),
        run="transfer:backup",
    ),
    Command(
        "restore",
        "put a backup in the place of the database, and keep the earlier file",
        (
            Param("backup", TEXT, "a file that `scrubjay backup` wrote", usage="backup"),
            Param("to", TEXT, "the file to replace (default: the database)", usage="--to FILE"),
        ),
        run="transfer:restore",
        description="Put a backup in the place of the database, also while other programs use it: copy and"
        " check it, then replace the file in one step. The earlier file is kept as FILE.before-restore."
        " Programs that have it open report at their next write that it was replaced; restart servers.",
    ),
    _move(
        *("promote", "its file", "Postgres"),
        Param("to", TEXT, "postgres://user@host:5432/database", usage="--to URL"),
        "the file",
    ),
    _move(
        *("demote", "Postgres", "a file"),
        Param("to", TEXT, "the file to create", usage="--to FILE"),
        "the schema",
    ),
    Command(
        "models",
        "list or download models, change that of the store, measure the reranker",
        (
            Param(
                "action",
                choice("list", "pull", "use", "prune", "calibrate"),
                "what to do; pull downloads a model that is not here, and then embeds what is pending, as"
                " scrubjay embed does; use changes the embedder of the store; prune removes the indexes"
                " of former ones",
                default="list",
                usage="[action]",
            ),
            Param("name", TEXT, "the model (default: the configured one)", usage="[name]"),
            Param("wait", FLAG, "with use: build the index of the new model before this ends"),
        ),
        run="operate:models",
        description="List models, download one, change the embedder of the store, or measure the speed of"
        " the reranker. `use` checks the model with one sentence and queues every text; the old index"
        " answers until the new one is complete, and is kept, so that changing back is instant, until"
        " `prune` removes it. `prune NAME` gives up one index, also one that is being built.",
    ),
    Command(
        "embed",
        "embed everything that is pending, and show rate and time left",
        run="embed:embed",
        description="Embed every passage that has no vector of the configured embedder yet, also those that"
        " failed before. The model is downloaded if it is not here. On a terminal a bar shows rate and time"
        " left; elsewhere lines are written to standard error. Other processes may use the store, or embed"
        " too. Ctrl-C loses nothing: the next run resumes. The exit code is 1 if something could not be"
        " embedded.",
    ),
    Command(
        "eval",
        "measure how well your questions find their answers",
        (
            Param(
                "questions",
                TEXT,
                'a file with lines such as {"query": "…", "expect": ["id"]}, or a folder with'
                " corpus.jsonl, queries.jsonl and qrels.tsv",
                usage="questions",
            ),
            Param(
                "profiles",
                TEXTS,
                "a profile (default: the configured one); others are compared with the first",
                usage="--profile NAME[:MODE]",
            ),
            SETS,
            limit(10, LIMIT, "number of results to measure for each question"),
            Param("misses", COUNT, "number of misses to show", default=5, usage="--misses N"),
            Param(
                "at_least",
                ANY_NUMBER,
                "fail if nDCG of a profile is lower, such as 0.8",
                usage="--at-least NDCG",
            ),
            Param("keep", TEXT, "with a corpus: keep its store in this file", usage="--keep FILE"),
        ),
        run="evaluate:evaluate",
    ),
    Command(
        "demo",
        "show scrubjay on sample memories, in a temporary store",
        (
            Param("docs", TEXT, "also ingest this folder", usage="--docs DIR"),
            Param("keep", TEXT, "keep the store in this file", usage="--keep FILE"),
        ),
        run="demo:demo",
    ),
    Command(
        "serve",
        "serve the store over HTTP and MCP, with a web UI, until Ctrl-C",
        (
            Param(
                "host",
                TEXT,
                "an address or a name of this machine (default: 127.0.0.1)",
                usage="--host HOST",
            ),
            Param("port", TEXT, "0 chooses a free port (default: 8765)", usage="--port PORT"),
            Param(
                "tools",
                TEXT,
                f"tools of /mcp: {', '.join(TOOL_SETS)} (default: {TOOL_SETS[0]})",
                usage="--tools SET",
            ),
            Param(
                "rate",
                TEXT,
                "requests per second and API key (default: 100; without keys: unlimited)",
                usage="--rate N",
            ),
            Param("max_body_mb", TEXT, "largest request (default: 10)", usage="--max-body-mb MB"),
            Param(
                "max_answer_mb", TEXT, "largest answer (default: 32)", usage="--max-answer-mb MB"
            ),
            Param(
                "allow_hosts",
                TEXTS,
                "another name of this server, as in a browser's address bar",
                usage="--allow-host NAME",
            ),
            Param("no_auth", FLAG, "on loopback, answer every user of this machine without a key"),
            Param(
                "socket",
                TEXT,
                "listen on a Unix socket that only you can use, not on host and port",
                usage="--socket PATH",
            ),
            _RECALL_TAGS_OF_A_SERVER,
        ),
        run="serve:serve",
        description="Serve the store over HTTP (/v1) and MCP (/mcp), with a web UI whose link it prints,"
        " until Ctrl-C. Requests need the owner's key, which it writes into a file that only you can read,"
        " or an API key; with --no-auth, or after scrubjay key open, it answers every user of this machine."
        " By default only this machine can connect. Other machines need --host and an API key: scrubjay key"
        " create NAME, with the same --db and --tenant. With --tenant it serves only that tenant, and"
        " accepts only keys for it.",
    ),
    Command(
        "signin",
        "print a link that signs a browser in to a running server of yours",
        (
            Param(
                "url",
                TEXT,
                "the address of the server (default: that of the settings, or http://127.0.0.1:8765)",
                usage="[url]",
            ),
        ),
        run="signin:signin",
    ),
    Command(
        "mcp",
        "serve the store to an agent as MCP tools over standard input and output",
        (
            Param(
                "tools",
                choice(*TOOL_SETS),
                "default: eight tools; read: only those that read; chatgpt: search and fetch; full:"
                " every verb",
                default="default",
            ),
            Param(
                "recall_tags",
                choice(*RECALL_TAGS),
                _RECALL_TAGS_OF_A_SERVER.description,
                default=RECALL_TAGS[0],
            ),
        ),
        run="serve:mcp",
    ),
)
