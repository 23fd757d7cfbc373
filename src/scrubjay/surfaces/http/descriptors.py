"""How many files and connections a process may have open, and how many of them connections get."""

from __future__ import annotations

from functools import lru_cache

MOST_CONNECTIONS = 1000
_WANTED = 8192  # macOS lets a process ask for any number, and then has a bound of its own


@lru_cache(maxsize=1)
def most_connections() -> int:
    """Return how many connections are taken at once: half of what may be open, the stores have the rest.

    The bound is raised as far as that is allowed: 256 are usual on macOS.
    """
    return min(MOST_CONNECTIONS, max(1, _allowed() // 2))


def _allowed() -> int:
    try:
        import resource
    except ImportError:  # Windows, where only memory is the bound
        return _WANTED
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    endless = resource.RLIM_INFINITY
    wanted = _WANTED if hard == endless else min(_WANTED, hard)
    if soft != endless and soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
        except (OSError, ValueError):  # then it stays as it is
            pass
    return _WANTED if soft == endless else soft
