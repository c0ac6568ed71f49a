"""A scripted pick-and-place that reads the true state: proof that the drawn tasks can be done.

It uses what a robot would have to find out (poses, sizes) but moves like one: joint trajectories through the
same start_group and step_until, a friction grasp, no shortcut in the world. ``blind`` plays the same script
towards fixed places, as a program that looks at nothing would.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...base import Evaluation, GripperMove, Guard, JointTrajectory, TrueBody
from .. import pika, ur5e
from ..capabilities import ARM
from ..items import BOWL_FLOOR_M, TRAY_FLOOR_M
from ..kinematics import solve_tcp, tcp_pose
from ..world import TwinWorld

F64 = NDArray[np.float64]

CARRY_Z_M = 0.22
TIP_CLEARANCE_M = 0.006
MAX_GRASP_DEPTH_M = 0.055
RELEASE_GAP_M = 0.004
FREE_SPEED_M_S = 0.6
NEAR_SPEED_M_S = 0.25


class OracleError(Exception):
    """The script could not go on: a pose out of reach, or a motion that ended early."""


@dataclass
class Grasp:
    centre_m: F64
    yaw_rad: float
    tip_z_m: float
    opening_m: float


def pointing_down(yaw_rad: float) -> F64:
    """Rotation with the approach straight down and the closing direction at yaw_rad - 90 degrees."""
    c, s = math.cos(yaw_rad), math.sin(yaw_rad)
    return np.array([[c, s, 0.0], [s, -c, 0.0], [0.0, 0.0, -1.0]])


class Oracle:
    def __init__(self, world: TwinWorld) -> None:
        self._world = world
        self._group = 1000

    # ---- moving

    def _run(self, motions: list[JointTrajectory | GripperMove]) -> list[str]:
        """Plays a group to its end; returns the end reasons."""
        self._group += 1
        self._world.start_group(self._group, motions)
        while True:
            self._world.step_until(self._world.time_s + 10.0, False)
            status = next(g for g in self._world.groups() if g.group == self._group)
            if not status.active:
                return [m.end_reason or "" for m in status.motions]

    def _joint_move(self, q_goal: F64, speed: float = 1.2, guard: Guard | None = None) -> str:
        q = self._world.arms()[0].q_rad
        duration = max(0.15, 1.875 * float(np.max(np.abs(q_goal - q))) / speed)
        u = np.linspace(0.0, 1.0, max(2, math.ceil(duration / 0.01)))
        blend = u**3 * (10 - 15 * u + 6 * u * u)
        motion = JointTrajectory(ARM, u * duration, q + blend[:, None] * (q_goal - q), guard or Guard())
        return self._run([motion])[0]

    def _line(self, X_goal: F64, speed_m_s: float) -> str:
        q = self._world.arms()[0].q_rad
        X_start = tcp_pose(q)
        distance = float(np.linalg.norm(X_goal[:3, 3] - X_start[:3, 3]))
        duration = max(0.1, 1.875 * distance / speed_m_s)
        count = max(3, math.ceil(duration / 0.02))
        u = np.linspace(0.0, 1.0, count)
        blend = u**3 * (10 - 15 * u + 6 * u * u)
        rows = [q]
        for b in blend[1:]:
            X = X_goal.copy()
            X[:3, 3] = X_start[:3, 3] + b * (X_goal[:3, 3] - X_start[:3, 3])
            solution = solve_tcp(X, rows[-1])
            if solution is None:
                raise OracleError(f"no joint angles on the line at {X[:3, 3]}")
            rows.append(solution)
        return self._run([JointTrajectory(ARM, u * duration, np.array(rows))])[0]

    def _grip(self, opening_m: float) -> str:
        return self._run([GripperMove(ARM, opening_m)])[0]

    def _above(self, x: float, y: float, yaw: float) -> F64:
        X = np.eye(4)
        X[:3, :3] = pointing_down(yaw)
        X[:3, 3] = (x, y, CARRY_Z_M)
        # From home the elbow stays up and the wrist turns least.
        start = np.array(ur5e.HOME_Q_RAD)
        start[0] = math.atan2(y, x) - math.pi + math.asin(min(0.99, ur5e.DH_D_M[3] / math.hypot(x, y)))
        start[0] = (start[0] + math.pi) % (2 * math.pi) - math.pi
        q = solve_tcp(X, start, 300)
        if q is None:
            raise OracleError(f"no joint angles over ({x:.3f}, {y:.3f})")
        return q

    # ---- the task

    def pick_and_place(self, target: TrueBody, goal: TrueBody, others: list[TrueBody]) -> Evaluation:
        grasp = choose_grasp(target, others)
        x, y = float(grasp.centre_m[0]), float(grasp.centre_m[1])
        if self._grip(pika.MAX_OPENING_M) != "COMPLETED":
            raise OracleError("the jaw did not open")
        self._expect(self._joint_move(self._above(x, y, grasp.yaw_rad)), "over the object")
        down = np.eye(4)
        down[:3, :3] = pointing_down(grasp.yaw_rad)
        down[:3, 3] = (x, y, grasp.tip_z_m)
        self._grip(grasp.opening_m)
        self._expect(self._line(down, NEAR_SPEED_M_S), "down to the object")
        if self._grip(0.0) != "STALLED":
            raise OracleError("the jaw closed on nothing")
        lift = down.copy()
        lift[2, 3] = CARRY_Z_M
        self._expect(self._line(lift, NEAR_SPEED_M_S), "lifting")
        self.place(grasp, target, goal)
        self._world.step_until(self._world.time_s + 1.0, True)
        return self._world.evaluate()

    def place(self, grasp: Grasp, target: TrueBody, goal: TrueBody) -> None:
        gx, gy = (float(v) for v in goal.X_world_body[:2, 3])
        floor = {"tray": TRAY_FLOOR_M, "bowl": BOWL_FLOOR_M, "mat": float(goal.size_m[2])}[goal.kind]
        yaw = grasp.yaw_rad
        if goal.kind != "bowl":
            # Lay a box along the goal's edges, by the quarter turn that needs the least turning.
            goal_yaw = math.atan2(goal.X_world_body[1, 0], goal.X_world_body[0, 0])
            yaw += (goal_yaw - yaw + math.pi / 4) % (math.pi / 2) - math.pi / 4
        self._expect(self._joint_move(self._above(gx, gy, yaw)), "over the goal")
        bottom = float(target.X_world_body[2, 3]) - float(target.size_m[2]) / 2
        down = np.eye(4)
        down[:3, :3] = pointing_down(yaw)
        down[:3, 3] = (gx, gy, grasp.tip_z_m - bottom + floor + RELEASE_GAP_M)
        self._expect(self._line(down, NEAR_SPEED_M_S), "down to the goal")
        self._grip(min(pika.MAX_OPENING_M, self._world.grippers()[0].opening_m + 0.02))
        down[2, 3] = CARRY_Z_M
        self._expect(self._line(down, NEAR_SPEED_M_S), "away from the goal")

    @staticmethod
    def _expect(reason: str, where: str) -> None:
        if reason != "COMPLETED":
            raise OracleError(f"the motion {where} ended with {reason}")


def choose_grasp(target: TrueBody, others: list[TrueBody]) -> Grasp:
    """A grasp from above whose fingers and jaw keep the largest distance from the other things."""
    centre = target.X_world_body[:3, 3]
    top = float(centre[2] + target.size_m[2] / 2)
    tip = max(TIP_CLEARANCE_M, top - MAX_GRASP_DEPTH_M)
    if target.kind == "ball":
        tip = max(TIP_CLEARANCE_M, float(centre[2]) - 0.016)
    if target.kind == "box":
        base = math.atan2(target.X_world_body[1, 0], target.X_world_body[0, 0])
        options = [(base, float(target.size_m[1])), (base + math.pi / 2, float(target.size_m[0]))]
    else:
        options = [(n * math.pi / 12, float(target.size_m[0])) for n in range(-6, 6)]
    best: tuple[float, Grasp] | None = None
    for yaw, width in options:
        yaw = (yaw + math.pi / 2 + math.pi / 2) % math.pi - math.pi / 2 - math.pi / 2
        closing = np.array([math.sin(yaw), -math.cos(yaw)])
        opening = min(pika.MAX_OPENING_M, width + 0.024)
        clearance = math.inf
        for other in others:
            away = other.X_world_body[:2, 3] - centre[:2]
            radius = float(np.hypot(other.size_m[0], other.size_m[1])) / 2
            if other.kind in ("ball", "cylinder", "can", "bowl"):
                radius = float(other.size_m[0]) / 2
            tall = float(other.X_world_body[2, 3] + other.size_m[2]) > tip + 0.06
            reach = 0.08 if tall else opening / 2 + pika.FINGER_THICKNESS_M
            along = float(np.clip(away @ closing, -reach, reach))
            clearance = min(clearance, float(np.linalg.norm(away - along * closing)) - radius)
        if best is None or clearance > best[0] + 1e-9:
            best = (clearance, Grasp(centre.copy(), yaw, tip, opening))
    assert best is not None
    return best[1]


def run_oracle(world: TwinWorld) -> Evaluation:
    bodies = world.true_bodies()
    target = next(b for b in bodies if b.role == "target")
    goal = next(b for b in bodies if b.role == "goal")
    others = [b for b in bodies if b.role != "target"]
    return Oracle(world).pick_and_place(target, goal, others)


def run_blind(world: TwinWorld) -> Evaluation:
    """The same script for a 4 cm box amid the work area and a tray beside it, whatever is there."""

    def body(kind: str, x: float, y: float, size: tuple[float, float, float], height: float) -> TrueBody:
        X = np.eye(4)
        X[:3, 3] = (x, y, height)
        return TrueBody(kind, kind, "", X, np.array(size), 0.1, "")

    oracle = Oracle(world)
    try:
        return oracle.pick_and_place(
            body("box", 0.0, 0.45, (0.04, 0.04, 0.04), 0.02),
            body("tray", 0.2, 0.45, (0.18, 0.18, 0.03), 0.0),
            [],
        )
    except OracleError:
        world.step_until(world.time_s + 1.0, True)
        return world.evaluate()
