"""Every requirement has a test that names it."""

from __future__ import annotations

from tools import requirements


def test_every_requirement_is_named_by_a_test_and_every_name_is_a_requirement():
    """An id without a test proves nothing; an id that does not exist is a typing error."""
    named = requirements.tests_by_id()

    assert set(named) == requirements.REQUIREMENTS.keys()
    assert requirements.NOT_OPEN.keys() <= set(named)
