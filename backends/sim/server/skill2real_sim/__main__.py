"""``python -m skill2real_sim --world twin``: see core/serve.py for how it is started."""

from __future__ import annotations

import sys

from skill2real_sim.core.serve import serve
from skill2real_sim.worlds.base import World


def _twin() -> World:
    # Imported only when asked for: each world brings an engine of its own.
    from skill2real_sim.worlds.twin.world import TwinWorld

    return TwinWorld()


if __name__ == "__main__":
    sys.exit(serve({"twin": _twin}, sys.argv[1:]))
