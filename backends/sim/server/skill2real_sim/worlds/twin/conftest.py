"""Fixtures of the twin's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .world import TwinWorld


@pytest.fixture(scope="module")
def world() -> Iterator[TwinWorld]:
    """One world of a module (GL contexts are dear); tests reset it themselves."""
    made = TwinWorld()
    yield made
    made.close()
