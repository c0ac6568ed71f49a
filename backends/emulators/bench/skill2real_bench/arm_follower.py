"""What the joint servos are told each step, from the controller's latest target.

The controller writes at its own 500 Hz, so a step may see no new target or two: the target is carried on
along its own velocity, by the command's age and two periods at most. The velocity comes from the controller's
cycle counter, which does not jitter, and is fed forward as in the twin; the age, too, is counted in cycles,
from where a slow average of their times of writing has the first of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from skill2real_sim.worlds.twin import ur5e
from skill2real_sim.worlds.twin.motion import FEED_FORWARD_S, brake_positions

F64 = NDArray[np.float64]

# A controller that fell silent for this long lets the brakes fall.
STALE_S = 0.1
CARRY_ON_PERIODS = 2
# Share of each new cycle in the average of where cycle zero was; a clock that jumped begins a new average.
ZERO_GAIN = 0.05
SAME_CLOCK_S = 0.004
# No servo moves its target faster than this share of the joint's limit, whatever it is told.
SLEW = 1.2


@dataclass(frozen=True)
class ArmCommand:
    host_time_s: float
    cycle: int
    position: bool
    q_target_rad: F64


class ArmFollower:
    """Servo targets of one arm; brakes on at first."""

    def __init__(self, q_rad: F64, period_s: float) -> None:
        self._period_s = period_s
        self._slew_rad = SLEW * np.array(ur5e.VELOCITY_LIMIT_RAD_S) * period_s
        self.refused = 0
        self.put(q_rad)

    def put(self, q_rad: F64) -> None:
        """Brakes on at q_rad, nothing known of the controller."""
        self.q_target_rad = np.array(q_rad, dtype=np.float64)
        self.qd_target_rad_s = np.zeros(6)
        self.braked = True
        self._braking: F64 = np.zeros((0, 6))
        self._last: tuple[int, F64] | None = None
        self._cycle_zero_s = -1.0e9

    def next(self, command: ArmCommand | None, now_s: float, q_rad: F64, qd_rad_s: F64) -> F64:
        """The servos' row for the coming step."""
        if command is not None and not bool(np.isfinite(command.q_target_rad).all()):
            self.refused += 1
            command = None
        live = command is not None and command.position and now_s - command.host_time_s <= STALE_S
        if not live:
            return self._brake(q_rad, qd_rad_s)
        assert command is not None
        self.braked = False
        velocity = self._velocity(command, now_s)
        age_s = now_s - (self._cycle_zero_s + command.cycle * self._period_s)
        age_s = min(max(age_s, -self._period_s), CARRY_ON_PERIODS * self._period_s)
        step = command.q_target_rad + velocity * age_s - self.q_target_rad
        if bool((np.abs(step) > self._slew_rad).any()):
            step = np.clip(step, -self._slew_rad, self._slew_rad)
            velocity = step / self._period_s
        self.q_target_rad = self.q_target_rad + step
        self.qd_target_rad_s = velocity
        return self.q_target_rad + FEED_FORWARD_S * velocity

    def _velocity(self, command: ArmCommand, now_s: float) -> F64:
        last = self._last
        if last is None or command.cycle != last[0]:
            zero_s = command.host_time_s - command.cycle * self._period_s
            near = abs(zero_s - self._cycle_zero_s) < SAME_CLOCK_S
            self._cycle_zero_s += (ZERO_GAIN if near else 1.0) * (zero_s - self._cycle_zero_s)
        if last is None:
            self._last = (command.cycle, command.q_target_rad)
            return np.zeros(6)
        cycles = command.cycle - last[0]
        if cycles == 0:
            # Nothing new: a target that stays away for longer than a late cycle has stopped.
            late = now_s - command.host_time_s > 2 * CARRY_ON_PERIODS * self._period_s
            return np.zeros(6) if late else self.qd_target_rad_s
        self._last = (command.cycle, command.q_target_rad)
        if not 0 < cycles <= 10:
            return np.zeros(6)
        limit = np.array(ur5e.VELOCITY_LIMIT_RAD_S)
        return np.clip((command.q_target_rad - last[1]) / (cycles * self._period_s), -limit, limit)

    def _brake(self, q_rad: F64, qd_rad_s: F64) -> F64:
        if not self.braked:
            self.braked, self._last = True, None
            self._braking = brake_positions(
                np.array(q_rad), np.array(qd_rad_s), ur5e.CONTACT_BRAKE_RAD_S2, self._period_s
            )
        velocity = np.zeros(6)
        if len(self._braking):
            row, self._braking = self._braking[0], self._braking[1:]
            if len(self._braking):
                velocity = (self._braking[0] - row) / self._period_s
            self.q_target_rad = row
        self.qd_target_rad_s = velocity
        return self.q_target_rad + FEED_FORWARD_S * velocity
