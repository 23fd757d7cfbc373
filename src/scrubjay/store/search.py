"""One search: check the request, run the stages of a profile, collect what the answer lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from scrubjay.errors import InvalidInput, StoreError, TimedOut
from scrubjay.search import profiles
from scrubjay.search.pipeline import Kit, Run, Tier, search, through
from scrubjay.search.profiles import Profile
from scrubjay.sharing.permissions import topics_of
from scrubjay.store.context import Context
from scrubjay.text.validation import check_text, did_you_mean
from scrubjay.times import When, micros, parse_bound
from scrubjay.types import Filters, Query, Results, Scope

_MOST_COUNTED = 1000
_MOST_NAMED = 20
_MOST_KITS = 64
_NO_FILTERS = Filters()
_TEXTS = {str, type(None)}
# The stage that gives a meaning to an argument, and the filter for callers who meant to filter.
_SCORED_BY = {"tags": "signals", "domain": "signals", "weights": "min_max"}
_FILTERS = {"tags": "topics", "domain": "only_domain"}


class Request(NamedTuple):
    """A search as the caller asks for it, apart from its filters."""

    query: str
    profile: str | None = None
    mode: str | None = None
    limit: int | None = None
    min_score: float | None = None
    overrides: Mapping[str, Any] | None = None
    tags: Sequence[str] | str | None = None
    domain: str | None = None
    weights: Mapping[str, float] | str | None = None
    include_expired: bool = False
    as_of: When | None = None
    history: bool = False


class Search:
    """The search of one store."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.on_search: Callable[[Results], None] | None = None
        self.counts_every_search = False
        self._kits: dict[int, tuple[Profile, Kit, int]] = {}

    def run(self, request: Request, filters: Filters) -> Results:
        _check(request)
        profile, walks_links = self._profile(request)
        limit = _checked_limit(request.limit, profile)
        context = self._context
        permissions = context.permissions
        scope = context.sees if filters == _NO_FILTERS else permissions.checked(filters)
        tiers = context.tiers_of(profile) if context.tiers.named else ()
        as_of = None if request.as_of is None else self._as_of(request.as_of)
        if as_of is not None:
            scope = scope._replace(until=min(scope.until or as_of, as_of))
        query = _query(request, min(limit, profile.most), as_of)
        begun = self._begun(query, profile, tiers) if profile.early else Run(query)
        if scope.namespaces:
            scope = permissions.expanded(scope)
        if not (request.include_expired or request.history):
            scope = self._valid_at(as_of or context.clock(), scope, tiers)
        self._prepare(profile, tiers, walks_links)
        # Before and after: a replica may not yet have had what arrives there during the search.
        behind = list(self._behind(profile))
        stages, kit = profile.stages, self._kit(profile, tiers)
        if profile.early and kit.embedder is not begun.kit.embedder:
            begun = self._begun(query, profile, tiers)  # the model of the store has changed
        bound = begun.query.scope
        query = begun.query._replace(scope=scope._replace(holds=bound.holds, lacks=bound.lacks))
        if as_of is not None:
            from scrubjay.search.stages.wordings import as_worded

            stages, kit = (*stages, as_worded()), kit._replace(versions=context.tables.versions)
        results = search(query, profile.name, stages, kit, begun.trace)
        lacks = [*self._not_searched(profile, tiers), *self._not_found(results, scope, tiers)]
        lacks += behind or self._behind(profile)
        if as_of is not None and not results.hits:
            lacks += self._not_stored_yet(as_of, tiers)
        if scope.namespaces:
            lacks += permissions.unmatched(scope.namespaces)
        results.degraded = (*results.degraded, *lacks)
        if limit > profile.most:
            results.counts = {**results.counts, "limit_cut_from": limit}
        self._count_hits(results)
        self._notify(results)
        return results

    def _begun(self, query: Query, profile: Profile, tiers: tuple[Tier, ...]) -> Run:
        """Run the first stages, which need only models, before any store is asked."""
        return through(profile.early, Run(query, self._kit(profile, tiers)))

    def _profile(self, request: Request) -> tuple[Profile, bool]:
        """Return the profile to run, and whether it walks links where no weight leaves them out."""
        name = request.profile or self._context.profile
        profile = None
        if request.overrides is None and {type(name), type(request.mode)} <= _TEXTS:
            profile = profiles.built_in_profile(name, request.mode)
        profile = profile or profiles.get(name, request.overrides, mode=request.mode)
        _check_scoring(profile, request)
        if request.weights is None:
            return profile, "graph" in profile.used
        from scrubjay.search.profiles.overrides import weighed

        return weighed(profile, request.weights), "graph" in profile.used

    def _kit(self, profile: Profile, tiers: tuple[Tier, ...]) -> Kit:
        """Return the tables and models of a search; built once for a profile whose models are all here."""
        known = self._kits.get(id(profile))
        switches = self._context.switches
        if known is not None and known[0] is profile and known[2] == switches and not tiers:
            return known[1]
        kit = self._context.kit(profile, tiers)
        complete = not kit.why_not.get("embedder") or "embed_query" not in profile.used
        if complete and not kit.absent and not tiers and self._context.shared_models is None:
            if len(self._kits) >= _MOST_KITS:
                self._kits.clear()
            self._kits[id(profile)] = profile, kit, switches
        return kit

    def _as_of(self, given: When) -> datetime | None:
        """Return the time whose state is searched; None for now, and for a time in the future."""
        moment = parse_bound(given, "as_of", self._context.clock, end_of_day=True)
        return moment if moment is not None and moment < self._context.clock() else None

    def _valid_at(self, moment: datetime, scope: Scope, tiers: tuple[Tier, ...]) -> Scope:
        now_us = micros(moment)
        # Each tier has validity times of its own, and works out by itself since when the same is valid.
        state_us = now_us if tiers else self._context.tables.windows.last_change_us(now_us)
        return scope._replace(valid_us=state_us)

    def _prepare(self, profile: Profile, tiers: tuple[Tier, ...], walks_links: bool) -> None:
        """Wait for the last few vectors, and begin to feed a replica that is used for the first time."""
        own_lost = bool(tiers) and not any(tier.own and tier.lost is None for tier in tiers)
        if "embed_query" in profile.used and not own_lost:
            try:
                self._context.embedding.prepare_search(links=walks_links)
            except TimedOut:
                pass  # a source that is too slow as well will say so; the others can answer
            except StoreError:
                if not tiers:  # other tiers can answer where the own database is damaged
                    raise
        if self._context.tables.replicas is not None:
            self._context.tables.replicas.prepare_search()

    # -- what an answer lacks -----------------------------------------------------------------

    def _not_searched(self, profile: Profile, tiers: tuple[Tier, ...]) -> Iterator[str]:
        if self._context.tiers.several and not tiers:
            yield (
                f"only {self._context.path} was searched: profile {profile.name} searches one"
                " database, profile vault searches every tier"
            )

    def _not_found(self, results: Results, scope: Scope, tiers: tuple[Tier, ...]) -> Iterator[str]:
        """Name each filter that selects nothing, and what there is instead: `Decision` is not `decision`."""
        if results.hits:
            return
        yield from self._context.permissions.half_named(scope.namespaces)
        if tiers:
            return
        tables, sees = self._context.tables, self._context.sees
        if scope.collection is not None:
            names = {one.name: 1 for one in self._context.folders.collections()}
            yield from _unknown("collection", [scope.collection], names)
        if scope.types:
            yield from _unknown("type", scope.types, tables.records.counts("type", sees))
        if scope.topics:
            yield from _unknown("topic", scope.topics, tables.topics.counts(sees))

    def _not_stored_yet(self, as_of: datetime, tiers: tuple[Tier, ...]) -> Iterator[str]:
        """Report that nothing was stored at the time whose state was searched."""
        if tiers:
            return
        before = self._context.sees._replace(until=as_of)
        if not self._context.tables.records.any_visible(before):
            shown = as_of.isoformat(sep=" ", timespec="minutes")
            yield f"as_of: nothing was stored yet at {shown}"

    def _behind(self, profile: Profile) -> Iterator[str]:
        """Name what does not have every memory yet: the links, and the replicas that are searched."""
        if "graph" in profile.used:
            unlinked = self._context.embedding.unlinked(self._context.sees, _MOST_COUNTED + 1)
            if unlinked:
                more = (
                    f"more than {_MOST_COUNTED:,}" if unlinked > _MOST_COUNTED else f"{unlinked:,}"
                )
                memories = "memory is" if unlinked == 1 else "memories are"
                yield f"graph: {more} {memories} not linked yet"
        if self._context.tables.replicas is not None:
            stages = {"vectors": "embed_query", "graph": "graph"}
            used = [source for source, stage in stages.items() if stage in profile.used]
            yield from self._context.tables.replicas.pending_notes(used)

    # -- what follows a search ----------------------------------------------------------------

    def _count_hits(self, results: Results) -> None:
        """Count the hits of each source, where the profile has a stage for that or all are counted."""
        counted = any(step.stage == "count_hits" for step in results.trace)
        if self.counts_every_search or counted:
            from scrubjay.types.reports import hits_by_source

            self._context.hit_counts.note(hits_by_source(results))

    def _notify(self, results: Results) -> None:
        """Call the observer of searches. Its failure must not fail the search."""
        if self.on_search is None:
            return
        try:
            self.on_search(results)
        except Exception as error:  # noqa: BLE001 - foreign code may raise anything
            import logging

            kind = type(error).__name__  # its text may contain the query
            logging.getLogger(__name__).warning("the observer of searches failed: %s", kind)


def _unknown(what: str, names: Sequence[str], known: Mapping[str, int]) -> Iterator[str]:
    shown = ", ".join(list(known)[:_MOST_NAMED]) or "none"
    more = " …" if len(known) > _MOST_NAMED else ""
    for name in names:
        if name not in known:
            close = did_you_mean(name, known)
            yield f"there is no {what} {name!r}{close}; there are: {shown}{more}"


def _query(request: Request, limit: int, as_of: datetime | None) -> Query:
    """Return the query of a request, whose scope is not known yet."""
    return Query(
        request.query,
        limit=limit,
        min_score=request.min_score,
        limited=request.limit is not None,
        tags=() if request.tags is None else topics_of(request.tags, "tags"),
        domain=request.domain,
        as_of=as_of,
        history=request.history or request.include_expired,
    )


def _checked_limit(limit: object, profile: Profile) -> int:
    wanted = profile.limit if limit is None else limit
    if type(wanted) is not int or wanted < 1:
        raise InvalidInput(f"limit is {limit!r}; it must be a whole number of 1 or more")
    return wanted


def _check(request: Request) -> None:
    if not isinstance(request.query, str):
        raise InvalidInput(f"query is {request.query!r}; it must be a text")
    least: object = request.min_score
    # Recency lifts some scores of cognis above 1.
    if least is not None and (
        not isinstance(least, int | float)
        or isinstance(least, bool)
        or not 0 <= least < float("inf")
    ):
        raise InvalidInput(f"min_score is {least!r}; give a number of 0 or more, such as 0.2")
    if request.domain is not None:
        check_text("domain", request.domain)
    for name in ("include_expired", "history"):
        given: object = getattr(request, name)
        if type(given) is not bool:
            raise InvalidInput(f"{name} is {given!r}; it must be True or False")


def _check_scoring(profile: Profile, request: Request) -> None:
    """Refuse an argument that the profile has no stage for: it would be ignored."""
    for name, stage in _SCORED_BY.items():
        if getattr(request, name) is None or stage in profile.used:
            continue
        others = [
            other
            for other in profiles.built_in()
            if ":" not in other and stage in profiles.get(other).used
        ]
        use = f"; use profile {' or '.join(others)}" if others else ""
        instead = f"; to filter, use {_FILTERS[name]}" if name in _FILTERS else ""
        raise InvalidInput(f"profile {profile.name} has no stage that takes {name}{use}{instead}")
