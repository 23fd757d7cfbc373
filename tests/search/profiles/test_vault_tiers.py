"""The vault profile over several databases: scores that compare, weights, versions, words of every tier."""

from __future__ import annotations

import random

import pytest
from clocks import NOON
from fakes import HashingEmbedder
from traces import steps

import scrubjay

WORDS = "lamp valve boiler gauge pump hose crane winch rope sail mast keel".split()
ENTRY = {
    "title": "Valve check",
    "text": "Check the valve before the boiler is lit",
    "context": "Twice the gauge was wrong",
    "topics": ["safety"],
    "severity": "warning",
    "domain": "boiler",
}


@pytest.fixture
def opened(tmp_path, clock):
    """Open stores that are closed at the end, with a model or without."""
    stores = []

    def open_(*path, profile="vault", embedder=False, **how):
        given = [tmp_path / one for one in path]
        store = scrubjay.open(*given, profile=profile, embedder=embedder, clock=clock, **how)
        stores.append(store)
        return store

    yield open_
    for store in stores:
        store.close()


def fill(store, count, seed):
    """Add made-up entries in which the words of the real one are common."""
    chance = random.Random(seed)
    store.add_many(
        {"text": " ".join(chance.choices(WORDS, k=12)), "title": chance.choice(WORDS)}
        for _ in range(count)
    )


class TestComparable:
    @pytest.mark.parametrize("embedder", [False, True])
    def test_a_tiny_and_a_huge_vault_score_the_same_entry_alike(self, tmp_path, opened, embedder):
        """SV-4: made comparable before weighing: every signal is the same, and scores differ by weight."""
        model = HashingEmbedder() if embedder else False
        tiny, huge = opened("tiny.db", embedder=model), opened("huge.db", embedder=model)
        tiny.add(**ENTRY, id="in the tiny one")
        huge.add(**ENTRY, id="in the huge one")
        fill(huge, 3000, 1)
        for store in (tiny, huge):
            store.pending()
        files = {"agent": str(tmp_path / "tiny.db"), "team": str(tmp_path / "huge.db")}
        both = opened(tiers=files, embedder=model)

        found = both.search("check the valve", limit=50, tags=["safety"], domain="boiler")
        hits = {hit.id: hit for hit in found}
        small, large = hits["in the tiny one"], hits["in the huge one"]

        assert dict(small.why) == dict(large.why)
        assert small.why["semantic"] > 0
        assert (small.tier, large.tier) == ("agent", "team")
        assert large.score == pytest.approx(small.score * 0.6, abs=1e-6)

    def test_tiers_count_words_together_as_one_vault_of_all_would(self, tmp_path, opened):
        """SV-7: how rare a word is, is counted over all tiers: the signals are those of one vault."""
        files = {name: str(tmp_path / f"{name}.db") for name in ("agent", "project", "team")}
        for seed, path in enumerate(files.values()):
            fill(opened(path), 200, seed)
        one = opened("one.db")
        for path in files.values():
            one.add_many(opened(path).ls(limit=1000))

        apart = opened(tiers=files).search("valve gauge lamp", limit=1000)
        together = one.search("valve gauge lamp", limit=1000)

        assert len(together) > 300
        assert {hit.id: dict(hit.why) for hit in apart} == {
            hit.id: dict(hit.why) for hit in together
        }

    def test_a_connected_vaults_priority_is_its_weight(self, tmp_path, opened):
        """SV-4: and a store alone has weight 1."""
        own, other = opened("own.db"), opened("other.db")
        own.add("the valve of the boiler", id="own")
        other.add("the valve of the boiler", id="other")
        alone = other.search("valve")[0]
        own.connect(tmp_path / "other.db", name="handbook", priority=0.7)

        hits = {hit.id: hit for hit in own.search("valve")}

        assert hits["other"].score == pytest.approx(0.7 * hits["own"].score, abs=1e-6)
        assert (hits["own"].tier, hits["other"].tier) == ("agent", "handbook")
        assert alone.tier is None
        assert alone.score == pytest.approx(0.4 * alone.why["semantic"] + 0.15 * (0.4 + 1))

    def test_one_tier_alone_is_a_tier(self, tmp_path, opened):
        """SV-4: what is opened as a tier has its name and weight; a path has neither."""
        opened("team.db").add("the valve of the boiler", id="team")
        alone = opened("team.db").search("valve")[0]

        (hit,) = opened(tiers={"team": str(tmp_path / "team.db")}).search("valve")

        assert (alone.tier, hit.tier) == (None, "team")
        assert hit.score == pytest.approx(0.6 * alone.score, abs=1e-6)

    def test_every_tier_is_asked_for_the_full_over_fetch(self, tmp_path, opened):
        """SV-4, SV-5: 30 of each, not 30 of all."""
        files = {name: str(tmp_path / f"{name}.db") for name in ("agent", "team")}
        for name, path in files.items():
            opened(path).add_many({"text": f"valve {number} {name}"} for number in range(60))

        found = opened(tiers=files).search("valve", limit=5)

        assert found.counts["keyword"] == 60
        assert len(found) == 5


class TestExplained:
    def test_a_score_can_be_worked_out_from_the_trace(self, tmp_path, opened):
        """R-7: the weights of the signals, and that of the tier."""
        files = {name: str(tmp_path / f"{name}.db") for name in ("agent", "project", "team")}
        for name, path in files.items():
            opened(path).add(f"the valve of the {name}", id=name, severity="critical")

        found = opened(tiers=files).search("valve", domain="boiler")
        noted = {name: step.notes for name, step in steps(found).items()}

        weights = noted["signals"]["weights"]
        for hit in found:
            summed = sum(weight * hit.why[name] for name, weight in weights.items())
            assert hit.score == pytest.approx(
                noted["tier_weight"]["weights"][hit.tier] * summed, abs=1e-6
            )
        assert noted["tier_weight"]["weights"] == {"agent": 1.0, "project": 0.8, "team": 0.6}
        parts = found.explain(found[-1]).parts
        assert sum(part.amount for part in parts) == pytest.approx(found[-1].score, abs=1e-6)
        assert [part.working for part in parts if part.name == "severity"] == [
            ("0.6 × 0.15 × 1.000000",)
        ]

    def test_words_of_a_language_that_only_one_tier_speaks_are_stemmed(self, tmp_path, opened):
        """A query is understood in the languages of all tiers."""
        files = {name: str(tmp_path / f"{name}.db") for name in ("agent", "team")}
        opened(files["agent"]).add("The valve of the boiler must be checked every week")
        german = "Die Ventile müssen jede Woche geprüft werden, sonst darf der Kessel nicht laufen"
        opened(files["team"]).add(german, id="deutsch")

        found = opened(tiers=files).search("Ventil")

        assert [hit.id for hit in found] == ["deutsch"]
        assert found[0].why["semantic"] > 0


class TestMemories:
    def test_those_of_a_lower_tier_count_by_its_weight(self, tmp_path, opened):
        """SV-4, SV-13: 0.5 times 0.6."""
        files = {name: str(tmp_path / f"{name}.db") for name in ("agent", "team")}
        for name, path in files.items():
            opened(path).add(f"we spoke of the valve, {name}", id=name, type="message")

        found = opened(tiers=files).search("valve")

        assert [(hit.id, hit.score) for hit in found] == [("agent", 0.5), ("team", 0.3)]

    def test_windows_are_those_of_each_file(self, tmp_path, opened, clock):
        """SV-9: what begins or ends in one tier takes effect there, and nowhere else."""
        files = {name: str(tmp_path / f"{name}.db") for name in ("agent", "team")}
        opened(files["agent"]).add("valve one", id="a", valid_until=NOON.replace(hour=13))
        opened(files["team"]).add("valve two", id="t", valid_from=NOON.replace(hour=14))
        store = opened(tiers=files)

        seen = []
        for _ in range(4):
            seen.append([hit.id for hit in store.search("valve")])
            clock.advance(hours=1)

        assert seen == [["a"], [], ["t"], ["t"]]
