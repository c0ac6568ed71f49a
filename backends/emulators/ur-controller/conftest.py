"""Fixtures of the emulated controller's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from emulator import EXECUTABLE, Emulator

if not EXECUTABLE.exists():
    pytest.exit(f"{EXECUTABLE} is not built: run npm run setup -- --native", returncode=5)


@pytest.fixture
def emulator() -> Iterator[Emulator]:
    """A controller of its own for one test."""
    with Emulator() as running:
        yield running


@pytest.fixture(scope="module")
def shared() -> Iterator[Emulator]:
    """One controller for tests that leave it as they found it."""
    with Emulator() as running:
        yield running
