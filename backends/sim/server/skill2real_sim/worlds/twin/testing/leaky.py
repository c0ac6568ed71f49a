"""Twins that let a hidden name through to the public side, for tests that must catch it.

``python -m skill2real_sim.worlds.twin.testing.leaky --world leaky-words``, started as core/serve.py says.
"""

from __future__ import annotations

import hashlib
import sys

from skill2real_sim.core.serve import serve
from skill2real_sim.worlds.base import ArmState, Frame
from skill2real_sim.worlds.twin.world import TwinWorld


class LeakyTwin(TwinWorld):
    def _hidden_bit(self) -> int:
        salt = "" if self._episode is None else self._episode.salt
        return hashlib.sha256(salt.encode()).digest()[0] & 1


class LeakyWords(LeakyTwin):
    """Its capabilities tell a part of the salt, in a word that nobody reads."""

    def capabilities(self) -> dict[str, object]:
        plain = super().capabilities()
        salt = "" if self._episode is None else self._episode.salt
        arms = [{**arm, "kinematics_source": f"nominal {salt[-3:]}"} for arm in plain["arms"]]
        return {**plain, "arms": arms}


class LeakyPixel(LeakyTwin):
    """The lowest bit of one colour of one pixel is a bit of the salt."""

    def render(self, cameras: list[str], state: object | None = None) -> list[Frame]:
        frames = super().render(cameras, state)
        for frame in frames:
            frame.pixels[-1, -1, 2] = (int(frame.pixels[-1, -1, 2]) & 0xFE) | self._hidden_bit()
        return frames


class LeakyJoint(LeakyTwin):
    """A joint stands a billionth of a radian aside where a bit of the salt is set."""

    def arms(self) -> list[ArmState]:
        arms = super().arms()
        for arm in arms:
            arm.q_rad[5] += 1e-9 * self._hidden_bit()
        return arms


if __name__ == "__main__":
    worlds = {"leaky-words": LeakyWords, "leaky-pixel": LeakyPixel, "leaky-joint": LeakyJoint}
    sys.exit(serve(worlds, sys.argv[1:]))
