"""What can be broken on the emulated gripper, and the words of the lines that break it.

A line on standard input is one JSON object: ``{"fault": NAME, ...}``, ``{"clear": true}`` or
``{"stats": true}``.

| fault | parameters | what happens |
| --- | --- | --- |
| freeze | seconds | the firmware stands still: no telemetry, no command, the motor as it was |
| kill | - | the whole emulator is gone at once |
| delay | ms | telemetry comes that much later |
| drop | share (1) | that share of the host's commands is lost |
| noise | share (0.2) | that share of telemetry objects has foreign bytes in or before it |
| half_frames | share (0.3) | that share of telemetry objects is cut |
| stuck | - | the fingers are jammed: the motor presses and turns nothing |
| unplug | seconds | the line hangs up and the link is gone; after ``seconds``, if given, it is back |
| replug_other_name | seconds (0.5) | the same, and the link leads to another device name afterwards |
| reset | - | the firmware restarts: motor off, settings forgotten, text on the line |
| reset_on_open | - | each opening of the line restarts the firmware from now on |
| status | bits | fault bits 0x01 to 0x3F of the status word; the motor goes off |
| power_off | - | the motor goes off by itself, without a fault bit |
| bad_zero | rad | the zero is off by so much |
| obstacle | mm, or none | something that wide between the fingers (own motor alone); none takes it away |
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

PARAMETERS: dict[str, dict[str, tuple[float, float, float | None]]] = {
    # name: parameter -> least, most, default (None: may be left out)
    "freeze": {"seconds": (0.0, 600.0, 1.0)},
    "kill": {},
    "delay": {"ms": (0.0, 10_000.0, 50.0)},
    "drop": {"share": (0.0, 1.0, 1.0)},
    "noise": {"share": (0.0, 1.0, 0.2)},
    "half_frames": {"share": (0.0, 1.0, 0.3)},
    "stuck": {},
    "unplug": {"seconds": (0.0, 600.0, None)},
    "replug_other_name": {"seconds": (0.0, 600.0, 0.5)},
    "reset": {},
    "reset_on_open": {},
    "status": {"bits": (1, 0x3F, 0x20)},
    "power_off": {},
    "bad_zero": {"rad": (-3.0, 3.0, 0.5)},
    "obstacle": {"mm": (0.0, 100.0, None)},
}
ELSEWHERE = {
    "rst": "a serial line has no connection to reset; unplug it",
    "protective_stop": "that is a fault of ur-controller",
    "emergency_stop": "that is a fault of ur-controller",
    "local": "that is a fault of ur-controller",
}


class BadFault(ValueError):  # noqa: N818 - a refusal, not a defect
    """The line asks for what the gripper cannot do; the message says what it can."""


@dataclass(frozen=True)
class Fault:
    """``kind`` is a fault's name, "clear" or "stats"; ``value`` its one parameter."""

    kind: str
    value: float | None = None


def parse_fault(line: str) -> Fault:
    """Reads one line; raises BadFault with what is allowed."""
    try:
        asked = json.loads(line)
    except json.JSONDecodeError as error:
        raise BadFault(f"not a JSON object: {error}") from None
    if not isinstance(asked, dict):
        raise BadFault("not a JSON object")
    for switch in ("clear", "stats"):
        if switch in asked:
            if asked != {switch: True}:
                raise BadFault(f'{switch} stands alone: {{"{switch}": true}}')
            return Fault(switch)
    kind = asked.get("fault")
    if kind in ELSEWHERE:
        raise BadFault(f"{kind}: {ELSEWHERE[kind]}")
    if kind not in PARAMETERS:
        raise BadFault(f"fault {kind!r} is not one of {', '.join(PARAMETERS)}")
    allowed = PARAMETERS[kind]
    for key in asked:
        if key != "fault" and key not in allowed:
            raise BadFault(f"{kind} has no {key!r}; it takes {', '.join(allowed) or 'nothing'}")
    for key, (least, most, default) in allowed.items():
        value = asked.get(key, default)
        if value is None:
            return Fault(kind)
        number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if not number or not least <= value <= most:
            raise BadFault(f"{key} is {value!r}, but must be from {least:g} to {most:g}")
        return Fault(kind, float(value))
    return Fault(kind)
