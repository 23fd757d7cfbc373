"""The pool of threads in which recall asks its sources side by side."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

# Recall never nests, so a small shared pool cannot wait for itself.
POOL = ThreadPoolExecutor(max_workers=8, thread_name_prefix="scrubjay-recall")
