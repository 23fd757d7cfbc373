"""The order in which queued chunks are embedded: everyone gets a turn, whatever others add."""

from __future__ import annotations

import random

from scrubjay.storage.sql.fair_order import SHARE, TURN, FairOrder


def memory(number: int, chunks: int, namespace: str = "a") -> list[tuple[int, int, str]]:
    """The chunks of one memory, with numbers that rise from memory to memory."""
    return [(number * 100_000 + n, number, namespace) for n in range(chunks)]


def test_short_memories_are_taken_in_their_order():
    order = FairOrder()
    order.add(chunk for n in range(30) for chunk in memory(n, 1))
    assert order.take(100) == [n * 100_000 for n in range(30)]
    assert order.take(100) == []


def test_a_namespace_waits_for_one_turn_of_each_other():
    order = FairOrder()
    for n in range(5):
        order.add(memory(n, 5_000, namespace=f"n{n}"))
    order.add(memory(9, 1, namespace="small"))
    assert memory(9, 1)[0][0] in order.take(5 * TURN + 1)


def test_a_memory_waits_for_one_share_of_each_other_of_its_namespace():
    order = FairOrder()
    for n in range(3):
        order.add(memory(n, 5_000))
    order.add(memory(9, 1))
    assert memory(9, 1)[0][0] in order.take(3 * SHARE + 1)


def test_nothing_starves_while_others_go_on_adding():
    """A long memory and a hundred new short ones a batch: it still moves with every batch."""
    order = FairOrder()
    long = memory(1, 400)
    order.add(long)
    wanted = {chunk for chunk, *_ in long}
    for batch in range(400 // SHARE):
        first = 2 + batch * 100
        order.add(chunk for n in range(first, first + 100) for chunk in memory(n, 1, "busy"))
        wanted -= set(order.take(100))
    assert not wanted


def test_each_chunk_is_taken_once_whatever_the_order_of_adding():
    chance = random.Random(7)
    order = FairOrder()
    everything = [c for n in range(40) for c in memory(n, chance.randrange(1, 60), f"n{n % 7}")]
    order.add(everything)
    order.add(everything)  # a second look finds the same
    taken: list[int] = []
    while few := order.take(chance.randrange(1, 40)):
        taken += few
    assert sorted(taken) == sorted(chunk for chunk, *_ in everything)
    assert len(order) == 0
