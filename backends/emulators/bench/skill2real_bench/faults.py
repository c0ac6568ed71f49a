"""What can be broken on the bench, and the words of the lines that break it.

A line on standard input is one JSON object: ``{"fault": NAME, ...}``, ``{"clear": true}``
or ``{"stats": true}``. Without "camera" a fault of the cameras befalls all of them.

| fault | parameters | what happens |
| --- | --- | --- |
| freeze | seconds | without "camera": the plant stands still; with it: the camera answers nothing |
| kill | - | without "camera": the whole bench is gone at once; with it: the camera process |
| delay | ms, camera | frames come that much later |
| drop | share 0 to 1 (1), camera | that share of requests is never answered |
| noise | camera | a bad cable: heavy noise, two depth pixels in five lost |
| half_frames | camera | replies whose pixel parts hold half of what the header says |
| stuck | camera | the same exposure again and again, whatever not_before says |
| unplug | camera | the camera is not there |
| replug_other_name | camera | another camera, with another serial, answers in its place |
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

from .bench_cameras import CAMERA_NAMES

PLANT_FAULTS = ("freeze", "kill")
CAMERA_FAULTS = (
    "freeze",
    "kill",
    "delay",
    "drop",
    "noise",
    "half_frames",
    "stuck",
    "unplug",
    "replug_other_name",
)
ELSEWHERE = {
    "rst": "the bench has no TCP connection to reset",
    "protective_stop": "that is a fault of ur-controller",
    "emergency_stop": "that is a fault of ur-controller",
    "local": "that is a fault of ur-controller",
}
MAX_SECONDS = 600.0
MAX_DELAY_MS = 10_000.0
_KEYS = ("fault", "clear", "stats", "seconds", "ms", "share", "camera")


class BadFault(ValueError):  # noqa: N818 - a refusal, not a defect
    """The line asks for what the bench cannot do; the message says what it can."""


@dataclass(frozen=True)
class Fault:
    """``kind`` is a fault's name, "clear" or "stats"; ``cameras`` is empty for a fault of the plant."""

    kind: str
    cameras: tuple[str, ...] = ()
    seconds: float = 0.0
    ms: float = 0.0
    share: float = 1.0


def parse_fault(line: str) -> Fault:
    """Raises BadFault."""
    try:
        asked = json.loads(line)
    except ValueError:
        raise BadFault("the line is not JSON") from None
    if not isinstance(asked, dict):
        raise BadFault("the line is not a JSON object")
    for key in asked:
        if key not in _KEYS:
            raise BadFault(f"unknown key {key!r}; known are {', '.join(_KEYS)}")
    for command in ("clear", "stats"):
        if command in asked:
            if asked != {command: True}:
                raise BadFault(f"write {{{command!r}: true}} alone")
            return Fault(command)
    kind = asked.get("fault")
    if kind in ELSEWHERE:
        raise BadFault(f"no fault {kind} here: {ELSEWHERE[kind]}")
    if kind not in CAMERA_FAULTS:
        raise BadFault(f"no fault {kind!r}; there is: {', '.join(CAMERA_FAULTS)}")
    camera = asked.get("camera")
    if camera is not None and camera not in CAMERA_NAMES:
        raise BadFault(f"no camera {camera!r}; there is: {', '.join(CAMERA_NAMES)}")
    of_plant = camera is None and kind in PLANT_FAULTS
    cameras = () if of_plant else (camera,) if camera is not None else CAMERA_NAMES
    return Fault(
        kind,
        cameras,
        seconds=_number(asked, "seconds", 2.0, MAX_SECONDS),
        ms=_number(asked, "ms", 200.0, MAX_DELAY_MS),
        share=_number(asked, "share", 1.0, 1.0),
    )


def _number(asked: dict[str, object], key: str, default: float, most: float) -> float:
    value = asked.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise BadFault(f"{key} is {value!r}; give a number")
    if not 0 <= value <= most:
        raise BadFault(f"{key} is {value!r}; give 0 to {most:g}")
    return float(value)
