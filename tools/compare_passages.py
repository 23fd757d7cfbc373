"""How often an agent can answer from what a search returns: `python -m tools.compare_passages`.

The pages of docs/ are ingested into a store, and each question is asked as an agent does. It counts for how
many the words of the answer are in the text that is returned: as a line for each hit with the snippet of a
long text, and as whole passages within a budget of tokens.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

import scrubjay
from scrubjay.text.tokens import estimate_tokens
from scrubjay.types import Results

DOCS = Path(__file__).parent.parent / "docs"
BUDGETS = (500, 1_000, 2_000, 4_000)
_WHOLE_CHARS, _SHOWN_CHARS = 2_000, 1_000  # a text that was shown without a snippet, and of it
# The page, a question in other words than the page's, and words that only the answer has.
QUESTIONS = (
    (
        "operating",
        "which folder does the systemd service keep the models in",
        "/var/cache/scrubjay",
    ),
    ("operating", "how long may stopping the server take", "up to 20 seconds"),
    ("operating", "what status does a request with an unknown host name get", "get 421"),
    ("operating", "which endpoint says that the store can be read", "503 with `Retry-After`"),
    ("documents", "how large may a file be to be indexed", "10 MB, binary and empty ones"),
    ("documents", "which encodings are accepted for text files", "UTF-16 with a byte order mark"),
    ("documents", "how much time may the reader of a PDF take", "30 seconds plus 10 for each MB"),
    (
        "documents",
        "what is the title of a document without front matter",
        "else the first heading",
    ),
    ("documents", "what becomes of wiki links in notes", "become links of kind `link`"),
    ("documents", "what is installed to read DOCX files", 'pip install "scrubjay[files]"'),
    ("people", "who may invite others to a shared collection", "| `owner` | yes | yes | yes |"),
    ("people", "can the only owner leave a collection", "The last owner cannot leave"),
    ("people", "how do I give old memories without a user to somebody", 'namespace="user:ann"'),
    (
        "people",
        "does a published copy change with the original",
        "later private changes stay private",
    ),
    ("tokens", "how soon is a revoked key refused", "within a second"),
    ("tokens", "how is the secret of a key stored", "SHA-256 hash"),
    ("tokens", "what may a key with the scope write do", "add, change, link, feedback, forget"),
    ("tokens", "which store contains the keys of every tenant", "store without a tenant contains"),
    ("feedback", "after how many ratings do weights move", "With 30 or more feedbacks"),
    ("feedback", "how do I stop learning for one search", "adaptive=false"),
    ("feedback", "how much does a modified result count", "modified ones count half"),
    ("tiers", "what is the weight of the team tier", "| `team` | 0.6 |"),
    (
        "tiers",
        "under which name is a written file searched that is no tier",
        "or `own` if there is",
    ),
    ("sizing", "how much disk do a hundred thousand short memories take", "about 260 MB"),
    ("sizing", "how much memory does a keyword search process need", "about 30 MB"),
    ("sizing", "when should I move to Postgres", "several machines that share a store"),
    ("sizing", "how fast does the embedding model read text", "6 kB of text for each second"),
    ("models", "how do I work without any network", "SCRUBJAY_OFFLINE=1"),
    ("models", "how large is the multilingual model", "72 MB, Apache-2.0"),
    ("models", "how do I turn off the vectors for other languages", 'multilingual = "none"'),
    ("mcp", "how many calls does the MCP server run in parallel", "Up to eight calls"),
    (
        "mcp",
        "what happens to the answer of a cancelled tool call",
        "its write may still take effect",
    ),
    ("mcp", "how do I mark stored text in structured content too", "--recall-tags all"),
    ("mcp", "which prompts does the server offer", "`recap` (what was stored last"),
)


def fragments(results: Results) -> str:
    """Return a line for each hit: the first characters of a short text, of a long one its snippet."""
    return "\n".join(
        hit.text[:_SHOWN_CHARS] if len(hit.text) <= _WHOLE_CHARS else hit.snippet
        for hit in results
    )


def measure(store: scrubjay.Store, *, each: bool) -> list[tuple[str, float, float]]:
    """Return for each form its name, the share of answers in it, and its tokens on average."""
    forms: dict[str, Callable[[Results], str]] = {"a snippet of each hit": fragments}
    for budget in BUDGETS:
        forms[f"passages, {budget:,} tokens"] = lambda found, most=budget: found.recalled(  # type: ignore[misc]
            tokens=most
        )
    found = [(answer, store.search(question)) for _, question, answer in QUESTIONS]
    rows = []
    for name, form in forms.items():
        texts = [(answer, form(results)) for answer, results in found]
        hits = [_words(answer) in _words(text) for answer, text in texts]
        if each:
            missing = [
                results.query for (_, results), hit in zip(found, hits, strict=True) if not hit
            ]
            print(name, "lacks", *missing, sep="\n  ")
        tokens = sum(estimate_tokens(text) for _, text in texts) / len(texts)
        rows.append((name, sum(hits) / len(hits), tokens))
    return rows


def _words(text: str) -> str:
    return " ".join(text.replace("&quot;", '"').split())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--each", action="store_true", help="print the questions without an answer"
    )
    args = parser.parse_args()
    texts = {page: (DOCS / f"{page}.md").read_text("utf-8") for page, _, _ in QUESTIONS}
    for page, _, answer in QUESTIONS:
        if _words(answer) not in _words(texts[page]):
            raise SystemExit(f"docs/{page}.md no longer says {answer!r}")
    with tempfile.TemporaryDirectory() as folder, scrubjay.open(f"{folder}/docs.db") as store:
        for file in sorted(DOCS.glob("*.md")):
            store.ingest(file)
        store.pending()
        rows = measure(store, each=args.each)
    print("| what is returned | answers | tokens |\n|---|---:|---:|")
    for name, share, tokens in rows:
        print(f"| {name} | {share:.0%} | {tokens:,.0f} |")


if __name__ == "__main__":
    main()
