"""The server over the test world, for tests that need a real process."""

from __future__ import annotations

import sys

from skill2real_sim.core.serve import serve
from skill2real_sim.core.testing.fake_world import FakeWorld

if __name__ == "__main__":
    sys.exit(serve({"fake": FakeWorld, "fake-vga": lambda: FakeWorld(640, 480)}, sys.argv[1:]))
