"""Qdrant's client is imported late, and by threads that know nothing of each other."""

from __future__ import annotations

import subprocess
import sys

# The second begins in the middle of what the first imports.
TWO_THREADS = """
import sys, threading, time
import numpy
from scrubjay.errors import Unavailable
from scrubjay.text.urls import QDRANT, parse_server_url
from scrubjay.storage.qdrant.client import QdrantServer
from scrubjay.storage.qdrant.vectors import QdrantVectors
from scrubjay.storage.sql.vectors import SqlEmbeddingQueue
from scrubjay.storage.sqlite.connection import SqliteDatabase
from scrubjay.types import Scope

db = SqliteDatabase(":memory:")
SqlEmbeddingQueue(db).activate("model", 4)
server = QdrantServer(parse_server_url("qdrant://127.0.0.1:1/notes", QDRANT, "vectors"))
vectors = QdrantVectors(db, server)

def ping():
    try:
        server.ping()
    except Unavailable:
        print("pinged ", end="")

first = threading.Thread(target=ping)
first.start()
while "qdrant_client" not in sys.modules:
    time.sleep(0.001)
try:
    vectors.search(numpy.ones(4, "f4"), "model", Scope(), 3)
except Unavailable:
    print("searched ", end="")
first.join()
vectors.close()
"""


def test_two_threads_import_it_at_once():
    """A search and the thread that tells the server may both be the first to name it (NM-6)."""
    done = subprocess.run(
        [sys.executable, "-c", TWO_THREADS], capture_output=True, text=True, check=False
    )
    assert sorted(done.stdout.split()) == ["pinged", "searched"], done.stderr
