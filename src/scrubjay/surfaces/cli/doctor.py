"""`doctor` and `tiers`: checks that work even if the store cannot be opened."""

from __future__ import annotations

from argparse import Namespace

from scrubjay.errors import InvalidInput
from scrubjay.surfaces.cli.session import settings_of, tier_states
from scrubjay.surfaces.render.json import dumps
from scrubjay.surfaces.render.layout import indent
from scrubjay.surfaces.render.terminal import Screen, one_line, out


def doctor(args: Namespace, screen: Screen) -> int:
    """Check every part; fail if one failed, not if one is merely missing."""
    from scrubjay.ops.doctor.run import examine, unreadable
    from scrubjay.surfaces.render.json import findings as shape
    from scrubjay.surfaces.render.reports import findings_text

    try:
        findings = examine(settings_of(args))
    except InvalidInput as error:
        findings = [unreadable(error)]
    out(dumps(shape(findings)) if args.json else findings_text(findings, screen))
    return int(any(finding.state == "failed" for finding in findings))


def tiers(args: Namespace, screen: Screen) -> int:
    from scrubjay.surfaces.render.tables import with_head
    from scrubjay.surfaces.verbs.operate import tiers_json

    tiers = tier_states(args.db, args.user, args.tiers)
    if args.json:
        out(dumps(tiers_json(tiers)))
        return 0
    rows = [("tier", "weight", "memories", "file")]
    for tier in tiers:
        count = "–" if tier.memories is None else f"{tier.memories:,}"
        mark = "  (written to)" if tier.own and tier.state == "open" else ""
        rows.append(
            (one_line(tier.name), f"{tier.weight:g}", count, f"{one_line(tier.path)}{mark}")
        )
    out(with_head(rows, screen))
    for tier in tiers:
        if tier.reason:
            why = one_line(f"{tier.name} is {tier.state}: {tier.reason}")
            out(screen.yellow(indent(why, screen.width, 0)))
    return 0
