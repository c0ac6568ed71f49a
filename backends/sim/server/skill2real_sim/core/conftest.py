"""Fixtures of the core's tests: a real server process over the test world, one for each file of tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from skill2real_sim.core.testing.client import DeviceClient, ServerProcess


@pytest.fixture(scope="module")
def process() -> Iterator[ServerProcess]:
    running = ServerProcess()
    yield running
    running.close()


@pytest.fixture
def server(process: ServerProcess) -> ServerProcess:
    """The shared process with a fresh world."""
    assert process.reset().WhichOneof("body") == "reset"
    return process


@pytest.fixture
def client(server: ServerProcess) -> Iterator[DeviceClient]:
    """The controller of a fresh world, with a lease that no test outlives."""
    controller = server.controller()
    yield controller
    controller.ask(bye={})
    controller.close()
