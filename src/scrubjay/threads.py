"""The pool of threads in which recall asks its sources side by side."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache


def pool() -> ThreadPoolExecutor:
    """Return this process's pool: threads do not survive a fork, so a child needs its own."""
    return _pool_of(os.getpid())


@lru_cache(maxsize=1)
def _pool_of(process: int) -> ThreadPoolExecutor:
    # Recall never nests, so a small shared pool cannot wait for itself.
    return ThreadPoolExecutor(max_workers=8, thread_name_prefix="scrubjay-recall")
