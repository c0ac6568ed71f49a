"""The twin world in this process, without any bridge: how fast it steps and renders, how long motions take.

The first line of its standard input is one JSON object, {"seed", "groups": [[motion, ...], ...], "steps"}, a
motion being the protocol's message as plain data. Then it answers each line with a line of JSON: "play" with
the wall seconds that all groups take, "measure" with the speed of stepping and of rendering.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
from skill2real_sim.worlds import base
from skill2real_sim.worlds.twin.world import TwinWorld

CONTROL_STEP_S = 0.02
VIEWS = (("topdown_left", "topdown_right"), ("scene_left", "scene_right"), ("wrist_left", "wrist_right"))
VIEW_REPEATS = 10


def motion_of(plain: dict[str, dict[str, object]]) -> base.Motion:
    if "joint_trajectory" in plain:
        motion = plain["joint_trajectory"]
        guard = motion["guard"]
        assert isinstance(guard, dict)
        direction = np.array(guard["direction_world"], dtype=float) if guard["direction_world"] else None
        return base.JointTrajectory(
            arm=str(motion["arm"]),
            time_s=np.array(motion["time_s"], dtype=float),
            q_rad=np.array(motion["q_rad"], dtype=float).reshape(-1, 6),
            guard=base.Guard(guard["force_n"], guard["torque_nm"], direction, guard["contact_expected"]),
        )
    move = plain["gripper_move"]
    return base.GripperMove(str(move["arm"]), move["opening_m"], move["force_n"], move["speed_m_s"])


def play(world: TwinWorld, seed: int, groups: list[list[base.Motion]]) -> float:
    """Wall seconds that the motions take, one group after the other."""
    world.reset("r1", seed, "", "")
    total = 0.0
    for number, motions in enumerate(groups, start=1):
        begun = time.perf_counter()
        world.start_group(number, motions)
        while any(group.active for group in world.groups()):
            world.step_until(world.time_s + 0.5, False)
        total += time.perf_counter() - begun
    return total


def stepping(world: TwinWorld, seed: int, steps: int, groups: list[list[base.Motion]]) -> dict[str, float]:
    """Control steps per second while the arm holds, and while it moves."""
    world.reset("r1", seed, "", "")
    begun = time.perf_counter()
    for _ in range(steps):
        world.step_until(world.time_s + CONTROL_STEP_S, True)
    held = steps / (time.perf_counter() - begun)
    world.reset("r1", seed, "", "")
    moved, wall = 0, 0.0
    for number, motions in enumerate(groups, start=1):
        world.start_group(number, motions)
        while any(group.active for group in world.groups()):
            begun = time.perf_counter()
            world.step_until(world.time_s + CONTROL_STEP_S, False)
            wall += time.perf_counter() - begun
            moved += 1
    return {"holding": held, "moving": moved / wall if wall > 0 else 0.0}


def rendering(world: TwinWorld, seed: int) -> dict[str, float]:
    """Milliseconds of one stereo view, each at a time of its own so that nothing is cached."""
    world.reset("r1", seed, "", "")
    figures = {}
    for pair in VIEWS:
        times = []
        for _ in range(VIEW_REPEATS):
            world.step_until(world.time_s + 0.01, True)
            begun = time.perf_counter()
            world.render(list(pair))
            times.append(1e3 * (time.perf_counter() - begun))
        figures[pair[0].removesuffix("_left")] = float(np.median(times))
    return figures


def main() -> None:
    task = json.loads(sys.stdin.readline())
    groups = [[motion_of(motion) for motion in group] for group in task["groups"]]
    world = TwinWorld()
    for line in sys.stdin:
        if line.strip() == "play":
            answer: object = play(world, task["seed"], groups)
        else:
            answer = {
                "steps_per_s": stepping(world, task["seed"], task["steps"], groups),
                "view_ms": rendering(world, task["seed"]),
                "renderer": world.renderer,
            }
        print(json.dumps(answer), flush=True)
    world.close()


if __name__ == "__main__":
    main()
