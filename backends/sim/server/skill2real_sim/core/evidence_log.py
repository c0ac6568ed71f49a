"""The log of true state and contacts: JSON lines in a file that only its owner can read."""

from __future__ import annotations

import json
import os
import stat

from skill2real_sim.core.codec import numbers
from skill2real_sim.worlds import base

PERIOD_S = 0.05


class EvidenceLog:
    """One open log. Records are written at once, unbuffered, so that a killed process loses none of them.

    ``failure`` holds the first write error; the log then takes no more records, and its owner is told.
    """

    def __init__(self, path: str) -> None:
        """Appends to the file, which becomes mode 0600. Raises OSError or ValueError."""
        if not os.path.isabs(path):
            raise ValueError(f"the evidence path {path!r} is not absolute")
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        self._fd = os.open(path, flags, 0o600)
        try:
            status = os.fstat(self._fd)
            if not stat.S_ISREG(status.st_mode):
                raise ValueError(f"the evidence path {path!r} is not a regular file")
            os.fchmod(self._fd, 0o600)
        except BaseException:
            os.close(self._fd)
            raise
        self.failure: str | None = None
        self.next_time_s = 0.0

    def write(
        self, world: base.World, moment: str, groups: list[int] | None = None, label: str | None = None
    ) -> None:
        """``moment`` is "start", "during", "end" or "mark"; ``groups`` those that start, move or end."""
        if self.failure is not None:
            return
        record: dict[str, object] = {"moment": moment, "time_s": world.time_s}
        if groups is not None:
            record["groups"] = groups
        if label is not None:
            record["label"] = label
        record["bodies"] = [
            {"name": b.name, "kind": b.kind, "role": b.role, "X_world_body": numbers(b.X_world_body)}
            for b in world.true_bodies()
        ]
        record["contacts"] = world.true_contacts()
        record["arms"] = [
            {
                "name": a.name,
                "mode": a.mode,
                "q_rad": numbers(a.q_rad),
                "qd_rad_s": numbers(a.qd_rad_s),
                "X_world_tcp": numbers(a.X_world_tcp),
                "tcp_wrench": numbers(a.tcp_wrench),
            }
            for a in world.arms()
        ]
        record["grippers"] = [
            {"arm": g.arm, "opening_m": g.opening_m, "force_n": g.force_n, "stalled": g.stalled}
            for g in world.grippers()
        ]
        line = json.dumps(record, separators=(",", ":")).encode() + b"\n"
        self.next_time_s = world.time_s + PERIOD_S
        try:
            while line:
                line = line[os.write(self._fd, line) :]
        except OSError as error:
            self.failure = f"the evidence log could not be written: {error.strerror}"

    def close(self) -> None:
        os.close(self._fd)
