"""What the world pushes on the arm with, filtered, and the limits that end or latch a motion.

The wrench at the TCP is the sum of all contact forces on the jaw and its fingers: what a wrist transducer
shows when the tool's weight and inertia are perfectly compensated. A held object shows with its weight and
inertia (300 g at 3 m/s2: under 4 N). A first-order low-pass of FILTER_S keeps single solver spikes from
counting as contact.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field

import mujoco
import numpy as np

from ..base import Guard
from . import ur5e

FILTER_S = 0.006


@dataclass
class ContactMonitor:
    """Filtered external wrench at the TCP (world axes) and filtered largest contact force on a link [N]."""

    period_s: float
    wrench: list[float] = field(default_factory=lambda: [0.0] * 6)
    link_force_n: float = 0.0
    quiet: bool = True

    def update(self, data: mujoco.MjData, bodies: BodyRange) -> None:
        """Reads the contact forces of the step that was just taken."""
        forces = bodies.forces
        if not forces.any():
            if self.quiet:
                return
            raw, link = (0.0,) * 6, 0.0
        else:
            tx, ty, tz, fx, fy, fz = forces[bodies.jaw].sum(axis=0).tolist()
            cx, cy, cz = bodies.moment_point.tolist()
            px, py, pz = bodies.tcp.tolist()
            rx, ry, rz = cx - px, cy - py, cz - pz
            raw = (fx, fy, fz, tx + ry * fz - rz * fy, ty + rz * fx - rx * fz, tz + rx * fy - ry * fx)
            links = forces[bodies.links, 3:]
            link = math.sqrt(float(np.max(np.einsum("ij,ij->i", links, links))))
        gain = 1.0 - math.exp(-self.period_s / FILTER_S)
        w = self.wrench
        for i in range(6):
            w[i] += gain * (raw[i] - w[i])
        self.link_force_n += gain * (link - self.link_force_n)
        self.quiet = False
        if link == 0.0 and not any(raw) and max(map(abs, w)) < 1e-6 and self.link_force_n < 1e-6:
            self.wrench, self.link_force_n, self.quiet = [0.0] * 6, 0.0, True

    def change_n(self, start: tuple[float, ...]) -> float:
        """Size of the force beyond ``start`` (at least its three force components)."""
        w = self.wrench
        return math.hypot(w[0] - start[0], w[1] - start[1], w[2] - start[2])

    @property
    def force_n(self) -> float:
        w = self.wrench
        return math.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])

    def digest(self, into: hashlib._Hash) -> None:
        into.update(repr((self.wrench, self.link_force_n, self.quiet)).encode())


class BodyRange:
    """Live views into the engine's data that the monitor reads every period."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        first, last = model.body("link0").id, model.body("finger_right").id
        self.forces = data.cfrc_ext[first : last + 1]
        jaw_first = model.body("gripper").id - first
        self.jaw = slice(jaw_first, last + 1 - first)
        self.links = slice(1, jaw_first)
        # The engine gives spatial forces about the centre of mass of the kinematic tree.
        self.moment_point = data.subtree_com[model.body_rootid[model.body("gripper").id]]
        self.tcp = data.site_xpos[model.site("tcp").id]


@dataclass
class GuardWatch:
    """The contact guard of one arm motion, relative to the wrench at its start."""

    force_n: float
    torque_nm: float
    direction: tuple[float, float, float] | None
    contact_expected: bool
    start: tuple[float, ...]
    force_sum_n: float = 0.0
    periods: int = 0
    contact_force_n: tuple[float, float, float] | None = None

    @staticmethod
    def of(guard: Guard, monitor: ContactMonitor) -> GuardWatch:
        direction = None
        if guard.direction_world is not None:
            d = np.asarray(guard.direction_world, dtype=np.float64)
            direction = tuple((d / np.linalg.norm(d)).tolist())
        return GuardWatch(
            force_n=guard.force_n or ur5e.CONTACT_FORCE_DEFAULT_N,
            torque_nm=guard.torque_nm or ur5e.CONTACT_TORQUE_DEFAULT_NM,
            direction=direction,
            contact_expected=guard.contact_expected,
            start=tuple(monitor.wrench),
        )

    def tripped(self, wrench: list[float]) -> bool:
        """True when the guard's limit is passed; also counts the force into the motion's mean."""
        s = self.start
        fx, fy, fz = wrench[0] - s[0], wrench[1] - s[1], wrench[2] - s[2]
        force = math.sqrt(fx * fx + fy * fy + fz * fz)
        self.force_sum_n += force
        self.periods += 1
        if self.direction is not None:
            # Only what the world exerts against the direction counts.
            dx, dy, dz = self.direction
            over = -(fx * dx + fy * dy + fz * dz) >= self.force_n
        else:
            over = force >= self.force_n
        if not over:
            tx, ty, tz = wrench[3] - s[3], wrench[4] - s[4], wrench[5] - s[5]
            over = tx * tx + ty * ty + tz * tz >= self.torque_nm * self.torque_nm
        if over:
            self.contact_force_n = (fx, fy, fz)
        return over

    @property
    def mean_force_n(self) -> float:
        return self.force_sum_n / self.periods if self.periods else 0.0


def protective_reason(monitor: ContactMonitor, tracking_error_rad: float) -> str | None:
    """Why the arm must latch a protective stop now, or None."""
    force = monitor.force_n
    if force > ur5e.PROTECTIVE_FORCE_N:
        return f"the tool met {force:.0f} N; the arm's limit is {ur5e.PROTECTIVE_FORCE_N:.0f} N"
    if monitor.link_force_n > ur5e.PROTECTIVE_LINK_FORCE_N:
        limit = ur5e.PROTECTIVE_LINK_FORCE_N
        return f"a link met {monitor.link_force_n:.0f} N; the arm's limit is {limit:.0f} N"
    if tracking_error_rad > ur5e.PROTECTIVE_TRACKING_RAD:
        limit = ur5e.PROTECTIVE_TRACKING_RAD
        return f"a joint is {tracking_error_rad:.3f} rad off its path; the limit is {limit} rad"
    return None
