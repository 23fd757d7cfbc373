"""Token vectors as bytes: what is lost on the way, and MaxSim done a second time by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from scrubjay.text.token_vectors import TokenCodes, max_sim, pack, rotate, unpack

NUMBERS = st.floats(-8, 8, width=32)
MATRICES = arrays(
    np.float32, array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=12), elements=NUMBERS
)


def units(seed, rows, dims):
    """So many random directions."""
    made = np.random.default_rng(seed).standard_normal((rows, dims))
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def by_hand(query, passage):
    """MaxSim in float64, a token at a time."""
    nearest = [max(float(q @ p) for p in passage) for q in query.astype(np.float64)]
    return sum(nearest) / len(nearest)


class TestPack:
    @given(MATRICES)
    def test_what_comes_back_is_within_half_a_step(self, tokens):
        """One scale serves the passage: its largest number over 7."""
        codes, scale = unpack(pack(tokens), tokens.shape[1])

        step = np.abs(tokens).max() / 7
        assert codes.shape == tokens.shape
        least = 1.2e-38  # the smallest scale
        assert step < least or scale == pytest.approx(step)
        lost = np.abs(codes.astype(np.float64) * scale - tokens).max()
        assert lost <= max(step, least) / 2 * 1.001

    def test_it_is_half_a_byte_a_number_and_four_for_the_scale(self):
        """The size on disk; an odd width is filled up."""
        assert len(pack(units(1, 30, 64))) == 4 + 30 * 32
        assert len(pack(units(1, 30, 63))) == 4 + 30 * 32

    def test_known_bytes(self):
        """0.5 is the largest: 7 steps; 0.2 is 2.8 of them, rounded to 3; 8 stands for 0."""
        stored = pack(np.array([[0.5, -0.2], [0.0, 0.5]], np.float32))

        assert stored == np.float32(0.5 / 7).astype("<f4").tobytes() + bytes([0xF5, 0x8F])

    @pytest.mark.parametrize("rows", [0, 1, 3])
    def test_nothing_and_zeros_come_back_as_they_are(self, rows):
        """A passage may have no tokens, and a token no direction."""
        codes, scale = unpack(pack(np.zeros((rows, 4), np.float32)), 4)

        assert codes.shape == (rows, 4)
        assert not codes.any()
        assert scale == 1.0

    @pytest.mark.parametrize("tiny", [1e-45, 1e-44, 1e-40, 1e-38])
    def test_numbers_that_are_hardly_there_do_not_divide_by_nothing(self, tiny):
        """A seventh of the smallest float is 0."""
        codes, scale = unpack(pack(np.full((2, 3), tiny, np.float32)), 3)

        assert np.isfinite(codes * scale).all()
        assert np.abs(codes.astype(np.float64) * scale - tiny).max() <= 1e-38


class TestRotated:
    def test_a_rotation_is_applied_cut_and_scaled_to_length_one(self):
        """(3, 4, 12) seen in the last two dimensions, swapped: (12, 4) over its length."""
        rotation = np.array([[0, 0], [0, 1], [1, 0]], np.float32)
        made = rotate(np.array([[3, 4, 12]], np.float32), rotation)

        assert made == pytest.approx(np.array([[12, 4]]) / np.sqrt(160))
        assert made.dtype == np.float32

    def test_without_a_rotation_tokens_are_of_length_one_all_the_same(self):
        """Else a model of long tokens would be near to everything."""
        made = rotate(np.array([[3, 4], [0, 0.5], [0, 0]], np.float32), None)

        assert made == pytest.approx(np.array([[0.6, 0.8], [0, 1], [0, 0]]))


class TestMaxSim:
    @pytest.mark.parametrize("seed", range(5))
    def test_it_agrees_with_float64_to_the_step_of_four_bits(self, seed):
        """Each stored number is off by half a step at most, and a query token has length one."""
        dims = 64
        query = units(seed, 7, dims)
        passages = [units(100 * seed + n, 3 + 5 * n, dims) for n in range(6)]

        scores = max_sim(query, [unpack(pack(one), dims) for one in passages])

        for score, one in zip(scores, passages, strict=True):
            half_step = np.abs(one).max() / 7 / 2
            # A query token of length one has at most sqrt(dims) as the sum of its numbers.
            assert score == pytest.approx(by_hand(query, one), abs=half_step * np.sqrt(dims))

    def test_whole_numbers_by_hand(self):
        """Nearest of each query token, averaged: ((1 + 0) + (0.5 + 0)) / 2 = 0.75 with scale 0.5."""
        query = np.array([[1, 0], [0, 1]], np.float32)
        one = TokenCodes(np.array([[2, 0], [0, 1], [1, 1]], np.int8), 0.5)

        assert max_sim(query, [one]) == [0.75]

    def test_a_passage_without_tokens_scores_0_wherever_it_stands(self):
        """And the others keep their own."""
        query = np.array([[1, 0]], np.float32)
        none = TokenCodes(np.zeros((0, 2), np.int8), 1.0)
        some = TokenCodes(np.array([[1, 0]], np.int8), 0.25)

        assert max_sim(query, [none, some, none, some, none]) == [0, 0.25, 0, 0.25, 0]
        assert max_sim(query, [none]) == [0]
        assert max_sim(query, []) == []
        assert max_sim(query[:0], [some]) == [0]

    def test_a_passage_that_points_away_is_below_0(self):
        """No token is near: the nearest is still the other way."""
        far = TokenCodes(np.array([[-2, 0], [-4, 0]], np.int8), 0.25)

        assert max_sim(np.array([[1, 0]], np.float32), [far]) == [-0.5]

    @given(
        st.lists(st.integers(0, 5), min_size=1, max_size=6), st.integers(1, 4), st.integers(0, 99)
    )
    def test_scoring_together_is_scoring_alone(self, lengths, asked, seed):
        """R-12: an answer does not depend on who else is scored."""
        query = units(seed, asked, 8)
        passages = [unpack(pack(units(seed + n, rows, 8)), 8) for n, rows in enumerate(lengths)]

        alone = [max_sim(query, [one])[0] for one in passages]

        assert max_sim(query, passages) == pytest.approx(alone, abs=1e-6)
