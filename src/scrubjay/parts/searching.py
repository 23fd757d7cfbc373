"""One search: what was asked, checked; the stages of a profile run; what the answer lacks, said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from scrubjay.errors import InvalidInput, StoreError
from scrubjay.parts.moving import Moving
from scrubjay.search import profiles
from scrubjay.search.pipeline import search
from scrubjay.sharing.permissions import both, only, topics_of
from scrubjay.text.validation import check_text, did_you_mean, several
from scrubjay.times import When, micros, parse
from scrubjay.types import Query, Results

if TYPE_CHECKING:
    from scrubjay.search.profiles import Profile
    from scrubjay.types import Scope
    from scrubjay.types.reports import Hits

_MOST_COUNTED = 1000
_MOST_NAMED = 20


class Searching(Moving):
    """The verb of searching."""

    def search(
        self,
        query: str,
        *,
        profile: str | None = None,
        mode: str | None = None,
        limit: int | None = None,
        namespace: str | None = None,
        namespaces: Sequence[str] | None = None,
        collection: str | None = None,
        topics: Sequence[str] | str | None = None,
        types: Sequence[str] | str | None = None,
        owner: str | None = None,
        agent: str | None = None,
        since: When | None = None,
        until: When | None = None,
        session: str | None = None,
        only_domain: str | None = None,
        min_score: float | None = None,
        overrides: Mapping[str, Any] | None = None,
        tags: Sequence[str] | str | None = None,
        domain: str | None = None,
        weights: Mapping[str, float] | str | None = None,
        include_expired: bool = False,
    ) -> Results:
        """Find memories. Every string is a legal query; what could not be searched is in `degraded`.

        `tags` and `domain` score, and `weights` weigh, in profiles that have stages for them; weights
        are a mapping, or the name of a pattern: exact_id, semantic, roaming. A namespace that ends in a
        slash stands for all of a project. What is not yet, or no longer, valid is left out, unless
        `include_expired` asks for it.
        """
        if not isinstance(query, str):
            raise InvalidInput(f"query is {query!r}; it must be a text")
        chosen = profiles.get(profile or self.profile, overrides, mode=mode)
        _check_scoring(chosen, tags=tags, domain=domain, weights=weights)
        uses_links = chosen.uses("graph")
        if weights is not None:
            from scrubjay.search.profiles.overrides import weighed

            chosen = weighed(chosen, weights)
        asked = chosen.limit if limit is None else limit
        if type(asked) is not int or asked < 1:
            raise InvalidInput(f"limit is {limit!r}; it must be a whole number of 1 or more")
        if min_score is not None:
            _check_least(min_score)
        if domain is not None:
            check_text("domain", domain)
        if type(include_expired) is not bool:
            raise InvalidInput(f"include_expired is {include_expired!r}; it must be True or False")
        scope = self._caller.narrowed(
            namespaces=both(several(namespaces, "namespaces"), only(namespace, "namespace")),
            types=types,
            topics=topics,
            collection=collection,
            session=session,
            owner=owner,
            agent=agent,
            domain=only_domain,
            since=since,
            until=until,
        )
        tiers = self._tiers_of(chosen)
        own_lost = bool(tiers) and not any(one.own and one.lost is None for one in tiers)
        if not include_expired:
            now_us = micros(self._clock())
            # Each tier has windows of its own, and says by itself since when the same is valid there.
            scope = scope._replace(valid_us=now_us if tiers else self._windows.state_us(now_us))
        if chosen.uses("embed_query") and not own_lost:
            try:
                self._embedding.prepare_search(links=uses_links)
            except StoreError:
                if not tiers:  # other tiers can answer where the own file is damaged
                    raise
        if self._tables.replicas is not None:
            self._tables.replicas.prepare_search()
        # Before and after: what a server is told while it is asked, it may not have known yet.
        lagging = self._lagging(chosen)
        unlinked = self._unlinked() if chosen.uses("graph") else []
        found = search(
            Query(
                query,
                scope,
                min(asked, chosen.most),
                min_score,
                limited=limit is not None,
                tags=topics_of(tags, "tags"),
                domain=domain,
            ),
            chosen.name,
            chosen.stages,
            self._kit(chosen, tiers),
        )
        if self._tiers.several and not tiers:
            found.degraded = (
                *found.degraded,
                f"only {self.path} was searched: profile {chosen.name} searches one file, profile"
                " vault searches every tier",
            )
        if not found.hits:
            found.degraded = (*found.degraded, *self._caller.half_named(scope.namespaces))
        if collection is not None and not found.hits and not tiers:
            known = [one.name for one in self.collections()]
            if collection not in known:
                there = ", ".join(known) or "none"
                missing = f"there is no collection {collection!r}; there are: {there}"
                found.degraded = (*found.degraded, missing)
        if not found.hits and not tiers:
            found.degraded = (*found.degraded, *self._nowhere(scope))
        if chosen.uses("graph"):
            found.degraded = (*found.degraded, *(unlinked or self._unlinked()))
        found.degraded = (*found.degraded, *(lagging or self._lagging(chosen)))
        found.degraded = (*found.degraded, *self._caller.unmatched(scope.namespaces))
        self._note_hits(found)
        if asked > chosen.most:
            found.counts = {**found.counts, "limit_cut_from": asked}
        self._tell(found)
        return found

    def _nowhere(self, scope: Scope) -> list[str]:
        """Say of each type and topic that nothing has so, and which there are: `Decision` is no decision."""
        said: list[str] = []
        if scope.types:
            said += _unknown("type", scope.types, self._records.counts("type", self._mine))
        if scope.topics:
            said += _unknown("topic", scope.topics, self._topics.counts(self._mine))
        return said

    def _tell(self, found: Results) -> None:
        """Let whoever watches searches know of one; whatever fails there is none of the searcher's."""
        if self.on_search is None:
            return
        try:
            self.on_search(found)
        except Exception as error:  # noqa: BLE001 - it may come from anywhere, and the answer is there
            import logging

            what = type(error).__name__  # its text may hold what was asked
            logging.getLogger(__name__).warning("what watches searches has failed: %s", what)

    def _lagging(self, profile: Profile) -> tuple[str, ...]:
        """Say which servers that a profile asks do not know everything yet."""
        if self._tables.replicas is None:
            return ()
        asked = {"vectors": "embed_query", "graph": "graph"}
        tiers = [tier for tier, stage in asked.items() if profile.uses(stage)]
        return tuple(self._tables.replicas.pending_notes(tiers))

    def hits(self, *, since: When | None = None) -> Hits:
        """Return how many results each tier found, by the hour, since a moment or ever.

        Searches of profiles with the stage `count_hits` are counted, in this store by anybody; those of
        a server are counted with every profile.
        """
        return self._hit_counts.report(parse(since, "since"))

    def _unlinked(self) -> list[str]:
        """Say that memories still wait for their links; of very many, not how many."""
        waiting = self._embedding.unlinked(self._mine, _MOST_COUNTED + 1)
        if waiting <= 1:
            return ["graph: 1 memory still waits for its links"] * waiting
        many = f"more than {_MOST_COUNTED:,}" if waiting > _MOST_COUNTED else f"{waiting:,}"
        return [f"graph: {many} memories still wait for their links"]

    def count_every_search(self) -> None:
        """Count the hits of each tier, from now on, whatever the profile: what a server shows as a chart.

        Other searches write nothing: one of a shell should not begin to.
        """
        self._counts_every_search = True

    def _note_hits(self, found: Results) -> None:
        """Count the hits of each tier, where the profile has a stage for that, or all are counted."""
        every = self._counts_every_search
        if not every and not any(step.stage == "count_hits" for step in found.trace):
            return
        from scrubjay.insight.hit_counts import tiers_of

        self._hit_counts.note(tiers_of(found))


def _unknown(what: str, asked: Sequence[str], known: Mapping[str, int]) -> list[str]:
    """Say of each name that nothing has, and which there are."""
    there = ", ".join(list(known)[:_MOST_NAMED]) or "none"
    more = " …" if len(known) > _MOST_NAMED else ""
    return [
        f"there is no {what} {one!r}{did_you_mean(one, known)}; there are: {there}{more}"
        for one in asked
        if one not in known
    ]


# Which stage gives a meaning to what a search may be told.
_SCORED_BY = {"tags": "signals", "domain": "signals", "weights": "min_max"}
# What only filters, for who meant that.
_FILTERS = {"tags": "topics", "domain": "only_domain"}


def _check_least(score: object) -> None:
    """Refuse a least score that is no number of 0 or more; recency lifts some of cognis above 1."""
    number = isinstance(score, int | float) and not isinstance(score, bool)
    if not number or not 0 <= score < float("inf"):  # type: ignore[operator]
        raise InvalidInput(f"min_score is {score!r}; give a number of 0 or more, such as 0.2")


def _check_scoring(profile: Profile, **given: object) -> None:
    """Refuse what the profile has no stage for: it would be ignored."""
    for name, value in given.items():
        stage = _SCORED_BY[name]
        if value is not None and not profile.uses(stage):
            others = [
                one
                for one in profiles.built_in()
                if ":" not in one and profiles.get(one).uses(stage)
            ]
            way = f"; ask with profile {' or '.join(others)}, which has one" if others else ""
            instead = f"; to filter, use {_FILTERS[name]}" if name in _FILTERS else ""
            raise InvalidInput(
                f"profile {profile.name} has no stage that takes {name}{way}{instead}"
            )
