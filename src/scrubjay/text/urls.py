"""Addresses shown without what lets somebody in."""

from __future__ import annotations

import re


def without_login(text: str) -> str:
    """Return an address, or a text that ends in one, without its login and what follows its `?`.

    To the last @, as a password may hold any sign; but the path or the name of a model may begin with
    one. Without a scheme it is taken for `user:password@host`.
    """
    before, mark, rest = text.partition("://")
    if not mark:
        return text.rpartition("@")[2]
    models = before.casefold().endswith(("http", "https"))
    login = re.match(r".*(?<![/#])@" if models else ".*@", rest, re.DOTALL)
    place, _, query = rest[login.end() if login else 0 :].partition("?")
    _, hash_, model = query.partition("#")
    return f"{before}://{place}{hash_}{model}"
