"""What the server core asks of a simulated world.

Everything here is already in the protocol's conventions (see ``src/contract/device.proto``): world frame with
z up, row-major 4x4 ``X_a_b``, xyzw quaternions, OpenCV optical camera frames, top-left RGB8 images. A world
converts from its engine's conventions itself, in its ``conventions`` module and nowhere else.

A world is passive: it never reads a wall clock, starts no thread and opens no socket. ``step_until`` is the
only thing that moves its time. The core holds one lock around every call, so that a world needs none of its
own; the one exception is ``render`` with a state.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]


@dataclass(frozen=True)
class Guard:
    """Contact guard of one arm motion; zero means the arm's default."""

    force_n: float = 0.0
    torque_nm: float = 0.0
    direction_world: F64 | None = None
    contact_expected: bool = False


@dataclass(frozen=True)
class JointTrajectory:
    arm: str
    time_s: F64  # (n,), rising from 0
    q_rad: F64  # (n, 6)
    guard: Guard = field(default_factory=Guard)


@dataclass(frozen=True)
class TcpPath:
    arm: str
    time_s: F64  # (n,)
    X_world_tcp: F64  # (n, 4, 4)
    guard: Guard = field(default_factory=Guard)


@dataclass(frozen=True)
class GripperMove:
    arm: str
    opening_m: float
    force_n: float = 0.0
    speed_m_s: float = 0.0


Motion = JointTrajectory | TcpPath | GripperMove


@dataclass
class MotionStatus:
    """Progress of one motion.

    ``end_reason`` is a name of the protocol's EndReason without its END_ prefix, or None.
    """

    index: int
    end_reason: str | None = None
    end_time_s: float = 0.0
    fraction_done: float = 0.0
    contact_force_n: F64 | None = None
    reached_point: int = 0
    mean_force_n: float = 0.0


@dataclass
class GroupStatus:
    group: int
    active: bool
    motions: list[MotionStatus]


@dataclass
class ArmState:
    name: str
    q_rad: F64
    qd_rad_s: F64
    X_world_tcp: F64
    tcp_wrench: F64
    mode: str  # a name of the protocol's ArmMode
    time_s: float


@dataclass
class GripperState:
    arm: str
    opening_m: float
    target_opening_m: float
    force_n: float
    moving: bool
    stalled: bool
    time_s: float


@dataclass
class Frame:
    camera: str
    width: int
    height: int
    format: str  # "rgb8"
    pixels: NDArray[np.uint8]  # (h, w, 3), C-contiguous
    exposure_time_s: float
    fx_px: float
    fy_px: float
    cx_px: float
    cy_px: float
    parent: str
    X_parent_camera: F64
    X_world_camera: F64
    arms: list[ArmState]


@dataclass(frozen=True)
class WorldEvent:
    """Something the core publishes.

    ``kind`` is "motion_ended" or "group_progress" (with ``group``), or "fault" (with code and message).
    """

    time_s: float
    kind: str
    group: GroupStatus | None = None
    code: str = ""
    message: str = ""
    arm: str = ""


@dataclass(frozen=True)
class ResetInfo:
    instruction: str
    rejected_draws: int
    rejected_reasons: dict[str, str]
    details_json: str


@dataclass(frozen=True)
class Predicate:
    name: str
    holds: bool
    measure: float
    unit: str
    limit: float


@dataclass(frozen=True)
class Evaluation:
    success: bool
    predicates: list[Predicate]
    failure_kind: str


@dataclass(frozen=True)
class TrueBody:
    name: str
    kind: str
    colour: str
    X_world_body: F64
    size_m: F64
    mass_kg: float
    role: str


class BadArgument(ValueError):  # noqa: N818 - a refusal, not a defect
    """A request value that the world refuses: the message names the value, the limit and the mend."""


class NotStart(ValueError):  # noqa: N818 - a refusal, not a defect
    """A trajectory whose first point is not where the arm is."""


class World(Protocol):
    """One simulated world. Methods raise BadArgument (or NotStart) before changing anything."""

    control_period_s: float
    renderer: str  # how pictures are made ("egl", "osmesa", "none"); for the log and the readiness line

    def capabilities(self) -> dict[str, object]:
        """The Capabilities message as plain data: keys and nesting are its field names.

        ``backend``, ``clock`` and ``version`` are the core's.
        """
        ...

    def tasks(self) -> list[str]: ...

    def reset(self, task: str, seed: int, hidden_salt: str, variant: str) -> ResetInfo: ...

    @property
    def ready(self) -> bool:
        """False before the first reset."""
        ...

    @property
    def time_s(self) -> float: ...

    def start_group(self, group: int, motions: list[Motion]) -> float:
        """Begins the motions together; returns the expected end time.

        Raises NotStart, or BadArgument for values out of range.
        """
        ...

    def check_group(self, motions: list[Motion]) -> None:
        """Raises what start_group would raise, without starting anything."""
        ...

    def busy(self, motions: list[Motion]) -> str | None:
        """The arm or gripper that is moving already, or None."""
        ...

    def stop(self, reason: str) -> None:
        """Latches a stop: from the next control period on arms decelerate within their limits, then hold.

        Grippers keep their grip.
        """
        ...

    def clear_stop(self) -> None:
        """Clears a latched stop or protective stop; the set-point becomes the actual position."""
        ...

    def step_until(self, until_s: float, through_motion_ends: bool) -> list[WorldEvent]:
        """Runs to until_s, or to the end of the control period of the first motion end or fault.

        With ``through_motion_ends`` only a fault ends it early.
        """
        ...

    def groups(self) -> list[GroupStatus]:
        """The active groups, if any, after the last 16 ended ones."""
        ...

    def arms(self) -> list[ArmState]: ...

    def grippers(self) -> list[GripperState]: ...

    def render_state(self) -> object:
        """A copy of everything that pictures depend on. Quick, for nothing steps meanwhile."""
        ...

    def render(self, cameras: list[str], state: object | None = None) -> list[Frame]:
        """Renders ``state`` (None: the present one). All frames of one call share one exposure time.

        Always called from the thread that made the world, because a GL context belongs to one thread. With
        a ``state`` another thread may step or stop the world meanwhile, so nothing but the copy may be read.
        The pixels are new arrays that the world never writes again: the core keeps and sends them uncopied.
        """
        ...

    def evaluate(self) -> Evaluation: ...

    def true_bodies(self) -> list[TrueBody]: ...

    def true_contacts(self) -> list[str]: ...

    def snapshot(self) -> object: ...

    def restore(self, state: object) -> None: ...

    packed_classes: tuple[type, ...]
    """The classes that ``pack`` uses, beside plain values, arrays and the engine's data."""

    def pack(self, state: object) -> object:
        """A snapshot as what can be written: plain values, arrays and ``packed_classes``."""
        ...

    def unpack(self, packed: object) -> object:
        """The snapshot in what was packed, perhaps by another process.

        Raises BadArgument where it is not of the present episode: a file brings no world of its own.
        """
        ...

    def state_hash(self) -> str: ...

    def close(self) -> None: ...
