"""Token vectors of others: whatever is wrong with them costs the closer look, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from fakes import HashingEmbedder, ScriptedReranker, TokenEmbedder

import scrubjay
from scrubjay import InvalidInput

NOTES = [{"id": f"d{n:02}", "text": f"The old harbour of town{n}."} for n in range(12)]


class Lying(HashingEmbedder):
    def __init__(self, lie):
        super().__init__(16)
        self.name = "lying"
        self._lie = lie

    def tokens(self, texts, *, as_query=False):
        return self._lie(len(texts))


class LyingAtOnce(TokenEmbedder):
    def __init__(self, lie):
        super().__init__(16)
        self.name = "lying"
        self._lie = lie

    def embed_with_tokens(self, texts, *, as_query=False):
        return self._lie(*super().embed_with_tokens(texts))


def check(tmp_path, model):
    with scrubjay.open(tmp_path / "a.db", embedder=model, profile="gno") as store:
        store.add_many(NOTES)
        assert store.pending(wait=True, timeout_s=60) == 0
        found = store.search("old harbour")
        assert store.status().models == {"lying": 12}
    assert all("vector" in hit.found for hit in found)
    assert any(one.startswith("late_interaction") for one in found.degraded)


@pytest.mark.parametrize(
    "lie",
    [
        lambda count: None,
        lambda count: 5,
        lambda count: ["text"] * count,
        lambda count: [object()] * count,
        lambda count: [[[1.0] * 16, [1.0] * 3]] * count,
    ],
    ids=["None", "number", "texts", "objects", "ragged"],
)
def test_tokens_that_are_no_matrices_cost_the_closer_look_only(tmp_path, lie):
    """R-6: words and meaning work."""
    check(tmp_path, Lying(lie))


@pytest.mark.parametrize(
    "lie",
    [
        lambda vectors, tokens: (vectors, [one * np.nan for one in tokens]),
        lambda vectors, tokens: (vectors, tokens[:-1]),
        lambda vectors, tokens: (vectors, [one[:, :3] for one in tokens]),
        lambda vectors, tokens: (vectors, None),
    ],
    ids=["NaN", "too few", "narrow", "None"],
)
def test_one_pass_whose_tokens_lie_still_gives_vectors(tmp_path, lie):
    """R-6: the vectors of the same pass are good."""
    check(tmp_path, LyingAtOnce(lie))


@pytest.mark.parametrize("answer", [None, (1, 2, 3)])
def test_one_pass_that_gives_no_pair_is_unavailable(tmp_path, answer):
    """R-6: words are left."""
    model = LyingAtOnce(lambda vectors, tokens: answer)
    with scrubjay.open(tmp_path / "a.db", embedder=model, profile="gno") as store:
        store.add_many(NOTES)
        found = store.search("old harbour")
    assert len(found) == 10
    assert any(one.startswith("embed_query") for one in found.degraded)


def test_reranked_is_counted_where_files_are_indexed_too(tmp_path):
    """R-12: `counts` has it beside the files."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# Old harbour\n\nboats\n", encoding="utf-8")
    judge = ScriptedReranker(lambda query, texts: [0.5] * len(texts))
    with scrubjay.open(tmp_path / "a.db", embedder=False, profile="gno", reranker=judge) as store:
        store.ingest(tmp_path / "notes")
        assert store.search("harbour").counts["reranked"] == 1


def test_tokens_that_could_not_be_made_are_made_when_asked_for(tmp_path):
    """R-6: a model that gave vectors only, for a while; `pending` gives it another chance."""

    class Later(HashingEmbedder):
        gives = False

        def tokens(self, texts, *, as_query=False):
            if not self.gives:
                raise RuntimeError("not now")
            return TokenEmbedder().tokens(texts)

    model = Later()
    with scrubjay.open(tmp_path / "a.db", embedder=model, profile="gno") as store:
        store.add_many(NOTES)
        store.pending(wait=True)
        model.gives = True
        (said,) = store.search("old harbour").degraded
        assert "no token vectors" in said
        assert said.endswith("scrubjay embed")
        store.pending(wait=True)
        assert store.search("old harbour").degraded == ()


def test_a_thing_called_tokens_that_cannot_be_called_is_none(tmp_path):
    """Some models count their tokens under that name."""

    class Counting(HashingEmbedder):
        tokens = 256

    with scrubjay.open(tmp_path / "a.db", embedder=Counting()) as store:
        store.add_many(NOTES)
        assert store.pending(wait=True) == 0
        assert store.search("old harbour").degraded == ()


@pytest.mark.parametrize("given", ["many", 0, -1, 2.5, 10_000])
def test_a_width_that_cannot_be_is_refused_at_once(given):
    """With what would be right."""

    class Wide(TokenEmbedder):
        token_dims = given

    with pytest.raises(InvalidInput, match="give a whole number of 1 to 256"):
        scrubjay.open(":memory:", embedder=Wide()).add("x")
