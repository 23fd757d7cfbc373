"""Requirements: what each id demands, in one sentence, and the tests that name it.

`docs/requirements.md` is printed from this table and from the docstrings of the tests.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent / "tests"
ID = re.compile(r"\b(?:R|GS|GN|SV|CG|NM)-\d+\b")
GROUPS = {
    "R": "All profiles",
    "GS": "gnosis",
    "GN": "gno",
    "SV": "vault",
    "CG": "cognis",
    "NM": "novamem",
}
NOT_BUILT = {"GS-17": "not built yet: `open(key=…)` is refused"}

REQUIREMENTS = {
    "R-1": "Ranks count from 1; reciprocal rank fusion gives weight / (k + rank), and nothing to what a list lacks.",
    "R-2": "Hits are sorted by the score they show; its parts are in `why`.",
    "R-3": "A limit is a limit, and filters bind every source of candidates.",
    "R-4": "A memory is one hit, however many of its chunks match; the best chunk gives the snippet.",
    "R-5": "Ties are broken by score rounded to 1e-6, then by the newer `updated_at`, then by id.",
    "R-6": "A missing model, index or replica degrades an answer, which names it; the search does not fail.",
    "R-7": "Every search can be explained, down to the numbers from which a score is recomputed by hand.",
    "R-8": "With a fixed clock and fixed models a search is deterministic.",
    "R-9": "Scores of every index are higher for better matches.",
    "R-10": "Keyword search joins terms by OR.",
    "R-11": "All profiles share one form of embedding and one keyword index.",
    "R-12": "The number of pairs to rerank is decided beforehand, from the measured speed of the reranker.",
    "GS-1": "Standard mode returns up to 32 of 64 candidates; deep mode up to 100 of 256, and needs two keywords.",
    "GS-2": "The query has its keywords and its vector before an index is searched.",
    "GS-3": "The vector index and the topic index are searched in parallel, the latter for three quarters as many.",
    "GS-4": "Topics are matched exactly, as a whole and by word, through keyed hashes.",
    "GS-5": "A search covers the caller's own namespace and their shared collections.",
    "GS-6": "Copies of one text in several collections are one candidate, and cost no other candidate its place.",
    "GS-7": "Both lists are fused by reciprocal rank with k = 60.",
    "GS-8": "Preferences and summaries are raised before the pool is cut.",
    "GS-9": "The reranker reads the whole pool in one batch, title and text.",
    "GS-10": "After reranking types are raised or lowered, within a cap, and the factors stack.",
    "GS-11": "Terms that a text contains literally raise a low score to a floor.",
    "GS-12": "With fewer than five candidates the standard mode does not rerank, and estimates scores.",
    "GS-13": "Hits below a score of 0.03 are dropped, and an empty answer says what was searched.",
    "GS-14": "Results are previews; the best short ones are complete.",
    "GS-15": "The compact answer has results, counts and the distribution of topics.",
    "GS-16": "Scores are shown with the bands excellent, good and weak.",
    "GS-17": "Text, vectors, topics and tokens can be encrypted at rest.",
    "GS-18": "On a GPU both modes answer within the stated times.",
    "GN-1": "A clear keyword match skips query expansion.",
    "GN-2": "A generator writes lexical and semantic variants and one hypothetical passage; its failure does not matter.",
    "GN-3": "The prompt is in the language of the query.",
    "GN-4": "Expansions are cached across processes.",
    "GN-5": "Phrases, negations and identifiers survive expansion, and unrelated variants are dropped.",
    "GN-6": "Keyword search sees whole documents, stems in many languages, and understands phrases, negations and prefixes.",
    "GN-7": "A chunk is embedded together with the title of its document.",
    "GN-8": "All searches of a query and its variants run in parallel.",
    "GN-9": "Original lists weigh 2.0, variants 1.0, the hypothetical passage 1.4; top ranks get a bonus.",
    "GN-10": "The best 20 documents are reranked on their best chunk.",
    "GN-11": "Fusion and reranking are blended by the position in the fused list.",
    "GN-12": "Scores are normalized per query and list.",
    "GN-13": "Original lists are fetched for twice the limit, variants for once.",
    "GN-14": "Modes fast, default and thorough, and the commands search, vsearch and query.",
    "GN-15": "What is not installed is left out, and `doctor` names the command that fixes it.",
    "GN-16": "Keyword and vector lookups stay within the stated times.",
    "SV-1": "`scan` returns short entries with token estimates, `full` returns entries with a breakdown of the score.",
    "SV-2": "Fields weigh title 10, id 5, description 3, tags 2, context 1.",
    "SV-3": "Stop words and terms of one character are dropped, the others joined by OR.",
    "SV-4": "Tiers are databases of their own with weights; of one id the highest tier's version counts.",
    "SV-5": "Three times the limit is fetched, at least 30.",
    "SV-6": "Six signals are weighed, and weights sum to 1.",
    "SV-7": "The semantic signal is the TF-IDF cosine, exact as entries come and go.",
    "SV-8": "Severity, shared tags and the domain are signals with fixed values.",
    "SV-9": "Entries decay with a half-life of a year or towards the end of their validity; invalid ones are left out.",
    "SV-10": "After 30 feedbacks the weight of the semantic signal moves within ±0.15.",
    "SV-11": "In a small store without a given limit all full-text hits are returned.",
    "SV-12": "Entries found by vectors alone join the pool under the same filters.",
    "SV-13": "Session history is merged at a base score of 0.5.",
    "CG-1": "A short vector makes the shortlist, the full vector decides.",
    "CG-2": "Keyword search stems by Snowball's English rules.",
    "CG-3": "A message is found in its session as soon as it is written.",
    "CG-4": "Vector and keyword ranks are weighed .70 and .30 with k = 10.",
    "CG-5": "Recent memories get a bonus that decays within minutes.",
    "CG-6": "Time expressions in English and German are resolved in the caller's time zone.",
    "CG-7": "A query about a time weighs how near a memory is to that time.",
    "CG-8": "Equal texts are one hit, and an echo of the query is none.",
    "CG-9": "Extracted facts are searched over all sessions, raw messages in their own.",
    "CG-10": "The numbers of the profile can be set by name.",
    "NM-1": "Keyword, vector and graph are searched independently; the graph finds its own seeds.",
    "NM-2": "Postgres ranks words by ts_rank_cd in this profile, joined by OR.",
    "NM-3": "Each list is scaled to 0..1 by its own range.",
    "NM-4": "Lists weigh .3, .6 and .1, or as the call says; a missing list gives 0.",
    "NM-5": "Without a namespace a search covers all namespaces that the caller can see.",
    "NM-6": "A source that fails degrades the answer; only a lost database fails it.",
    "NM-7": "Hits of each source are counted and shown as a chart.",
    "NM-8": "New memories are linked to their nearest three in the background; links set by hand stay.",
    "NM-9": "Fusion is one file of at most 200 lines.",
}


def tests_by_id() -> dict[str, list[str]]:
    """Return the tests whose docstring names an id, by id: `file::function`, in order."""
    found: dict[str, list[str]] = {}
    for file in sorted(TESTS.rglob("test_*.py")):
        name = file.relative_to(TESTS.parent).as_posix()
        for test, docstring in _functions(ast.parse(file.read_text(encoding="utf-8"))):
            for id_ in dict.fromkeys(ID.findall(docstring)):
                found.setdefault(id_, []).append(f"{name}::{test}")
    return found


def _functions(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield each test with the docstrings of the function and of its class."""
    for node in tree.body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        about = ast.get_docstring(node) or "" if isinstance(node, ast.ClassDef) else ""
        for test in inner:
            if isinstance(test, ast.FunctionDef) and test.name.startswith("test"):
                yield test.name, f"{about} {ast.get_docstring(test) or ''}"


def print_table() -> None:
    """Print every requirement with its sentence, the number of tests and the first of them."""
    tests = tests_by_id()
    for group, title in GROUPS.items():
        print(
            f"\n## {title}\n\n| id | what it demands | tests | for instance |\n|---|---|---|---|"
        )
        for id_, sentence in REQUIREMENTS.items():
            if id_.partition("-")[0] == group:
                named = tests.get(id_, [])
                example = f"`{_best(id_, named)}`" if named else NOT_BUILT[id_]
                print(f"| {id_} | {sentence} | {len(named)} | {example} |")


def _best(id_: str, named: list[str]) -> str:
    """Return the test that is nearest to a profile's own tests."""
    folder = {"GS": "gnosis", "GN": "gno", "SV": "vault", "CG": "cognis", "NM": "novamem"}
    profile = folder.get(id_.partition("-")[0], "pipeline")
    return next((name for name in named if f"test_{profile}" in name), named[0])
