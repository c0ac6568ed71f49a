"""The gripper's motor: what its firmware holds, and a first-order model of what it turns."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .linkage import MECHANICAL_STOP_RAD, angle_of

# The firmware's own values until the host sets some: enough current to crush, as on the device.
POWER_ON_LIMIT_A = 3.0
POWER_ON_SPEED_RAD_S = 3.0
# Asking for more than this trips the driver once the fingers press.
TRIP_A = 8.0

STATUS_OVER_CURRENT = 0x04
STATUS_ENABLED = 0x40
STATUS_HOMED = 0x80

POSITION_GAIN_PER_S = 30.0
SPEED_TIME_CONSTANT_S = 0.02
CURRENT_TIME_CONSTANT_S = 0.025
STIFFNESS_A_PER_RAD = 25.0
FRICTION_A = 0.06
MAX_SPEED_RAD_S = 6.0
STEP_S = 0.001


@dataclass
class Settings:
    """What commands have set."""

    enabled: bool = False
    target_rad: float = 0.0
    limit_a: float = POWER_ON_LIMIT_A
    speed_rad_s: float = POWER_ON_SPEED_RAD_S


@dataclass
class Reading:
    """What the device measures; angle before the zero's offset."""

    angle_rad: float = 0.0
    speed_rad_s: float = 0.0
    current_a: float = 0.0


class FirstOrderMotor:
    """Turns towards the target at limited speed; an obstacle or the stop blocks it, and the current rises."""

    def __init__(self, opening_m: float, obstacle_m: float | None = None) -> None:
        self.reading = Reading(angle_rad=angle_of(opening_m))
        self.obstacle_rad: float | None = None
        self.set_obstacle(obstacle_m)

    def set_obstacle(self, opening_m: float | None) -> None:
        """Something between the fingers as wide as ``opening_m``; None takes it away."""
        self.obstacle_rad = None if opening_m is None else angle_of(opening_m)

    def advance(self, settings: Settings, seconds: float, *, jammed: bool) -> Reading:
        for _ in range(max(1, round(seconds / STEP_S))):
            self._step(settings, jammed)
        return self.reading

    def _step(self, settings: Settings, jammed: bool) -> None:
        now = self.reading
        error = settings.target_rad - now.angle_rad
        top = min(abs(settings.speed_rad_s), MAX_SPEED_RAD_S)
        wanted = max(-top, min(top, POSITION_GAIN_PER_S * error)) if settings.enabled else 0.0
        speed = now.speed_rad_s + (wanted - now.speed_rad_s) * STEP_S / SPEED_TIME_CONSTANT_S
        angle = now.angle_rad + speed * STEP_S
        low = 0.0
        if self.obstacle_rad is not None and now.angle_rad >= self.obstacle_rad - 1e-9:
            low = self.obstacle_rad
        held = max(low, min(MECHANICAL_STOP_RAD, angle))
        blocked = jammed or held != angle
        if jammed:
            held = now.angle_rad
        if blocked:
            speed = 0.0
        drawn = 0.0
        if settings.enabled and blocked:
            drawn = max(-settings.limit_a, min(settings.limit_a, STIFFNESS_A_PER_RAD * error))
        elif settings.enabled and abs(speed) > 1e-3:
            drawn = math.copysign(min(FRICTION_A, settings.limit_a), speed)
        now.current_a += (drawn - now.current_a) * STEP_S / CURRENT_TIME_CONSTANT_S
        now.angle_rad = held
        now.speed_rad_s = speed
