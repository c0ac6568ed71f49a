"""The bench's jaw in the motor's place: commands and state go through the plant's shared memory."""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path

from .linkage import MECHANICAL_STOP_RAD, angle_of, opening_of, slope_of
from .motor import STIFFNESS_A_PER_RAD, Reading, Settings

# The layout of the memory is the bench's.
sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))
from skill2real_bench.plant_memory import PlantMemory


class PlantJaw:
    """Asks the plant for openings and reads what its jaw does. A factor relates force and current."""

    def __init__(self, path: str, newton_per_amp: float) -> None:
        self._memory = PlantMemory.attach(path)
        self._newton_per_amp = newton_per_amp
        self.reading = Reading()
        self._seen = False
        self.refresh()

    @property
    def ready(self) -> bool:
        """False until the plant has told the jaw's state for the first time."""
        return self._seen

    def refresh(self) -> Reading:
        block = self._memory.gripper_state
        if block.read():
            state = block.staged
            opening_m = float(state["opening_m"])
            angle_rad = min(angle_of(max(0.0, opening_m)), MECHANICAL_STOP_RAD)
            self.reading = Reading(
                angle_rad,
                float(state["opening_speed_m_s"]) / slope_of(angle_rad),
                # The plant's force closes where positive; the motor's current closes where negative.
                -float(state["force_n"]) / self._newton_per_amp,
            )
            self._seen = True
        return self.reading

    def advance(self, settings: Settings, seconds: float, *, jammed: bool) -> Reading:
        reading = self.refresh()
        command = self._memory.gripper_command.staged
        command["host_time_s"] = time.monotonic()
        target_rad = reading.angle_rad if jammed else settings.target_rad
        command["opening_m"] = opening_of(max(0.0, min(MECHANICAL_STOP_RAD, target_rad)))
        command["force_n"] = settings.limit_a * self._newton_per_amp
        command["speed_m_s"] = abs(settings.speed_rad_s) * slope_of(reading.angle_rad)
        command["enabled"] = int(settings.enabled)
        self._memory.gripper_command.write()
        if jammed and settings.enabled:
            pressed = STIFFNESS_A_PER_RAD * (settings.target_rad - reading.angle_rad)
            current_a = math.copysign(min(abs(pressed), settings.limit_a), pressed)
            return Reading(reading.angle_rad, 0.0, current_a)
        return reading
