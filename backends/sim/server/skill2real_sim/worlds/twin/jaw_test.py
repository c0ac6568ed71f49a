from __future__ import annotations

import numpy as np
import pytest

from ..base import GripperMove
from . import pika
from .capabilities import ARM
from .testing import oracle as script
from .testing.drive import run
from .world import TwinWorld


@pytest.mark.parametrize("opening", [0.0, 0.02, 0.095])
@pytest.mark.parametrize("speed", [0.0, 0.05, 0.25])
def test_the_jaw_reaches_what_it_is_told(world: TwinWorld, opening: float, speed: float) -> None:
    world.reset("r1", 1, "", "empty_table")
    run(world, GripperMove(ARM, 0.05))
    start = world.time_s
    status = run(world, GripperMove(ARM, opening, speed_m_s=speed), group=2)
    assert status.end_reason == "COMPLETED" and status.fraction_done == 1.0
    state = world.grippers()[0]
    assert state.opening_m == pytest.approx(opening, abs=6e-4)
    assert not state.moving and not state.stalled and state.target_opening_m == opening
    ideal = abs(opening - 0.05) / (speed or pika.DEFAULT_SPEED_M_S)
    assert ideal <= world.time_s - start <= ideal + 0.25


def grasped(world: TwinWorld, seed: int) -> tuple[script.Oracle, float]:
    """Picks the seed's target; returns the script and the object's width where it is held."""
    world.reset("r1", seed, "", "")
    bodies = world.true_bodies()
    target = next(b for b in bodies if b.role == "target")
    others = [b for b in bodies if b.role != "target"]
    arm = script.Oracle(world)
    arm.place = lambda grasp, target, goal: None  # type: ignore[method-assign]
    arm.pick_and_place(target, next(b for b in bodies if b.role == "goal"), others)
    return arm, script.choose_grasp(target, others).opening_m - 0.024


@pytest.mark.parametrize("seed", [0, 1])
def test_a_grasp_is_a_stall_at_the_objects_width(world: TwinWorld, seed: int) -> None:
    _, width = grasped(world, seed)
    state = world.grippers()[0]
    assert state.stalled and not state.moving
    assert state.opening_m == pytest.approx(width, abs=1e-3)
    assert state.force_n == pytest.approx(pika.DEFAULT_FORCE_N, abs=0.5)


def test_the_force_between_the_fingers_is_the_one_asked_for(world: TwinWorld) -> None:
    grasped(world, 0)
    for force in (5.0, 30.0):
        run(world, GripperMove(ARM, 0.0, force_n=force), group=int(force))
        world.step_until(world.time_s + 0.3, True)
        simulation = world._episode.simulation  # type: ignore[union-attr]
        finger = simulation.model.body("finger_left").id
        closing = simulation.data.body("gripper").xmat.reshape(3, 3)[:, 1]
        pushed = abs(float(simulation.data.cfrc_ext[finger, 3:] @ closing))
        assert pushed == pytest.approx(force, rel=0.1)
        assert world.grippers()[0].force_n == pytest.approx(force, abs=0.5)


def test_a_stop_keeps_the_grip(world: TwinWorld) -> None:
    grasped(world, 0)
    height = next(b for b in world.true_bodies() if b.role == "target").X_world_body[2, 3]
    world.stop("test")
    world.step_until(world.time_s + 3.0, True)
    after = next(b for b in world.true_bodies() if b.role == "target").X_world_body[2, 3]
    assert after == pytest.approx(height, abs=1e-3)
    assert world.grippers()[0].force_n > 0.9 * pika.DEFAULT_FORCE_N


def test_a_stop_halts_an_empty_jaw(world: TwinWorld) -> None:
    world.reset("r1", 1, "", "empty_table")
    world.start_group(1, [GripperMove(ARM, 0.0)])
    world.step_until(0.2, False)
    world.stop("test")
    world.step_until(1.0, True)
    state = world.grippers()[0]
    assert 0.05 < state.opening_m < 0.08 and not state.moving


def test_opening_lets_go_at_once(world: TwinWorld) -> None:
    grasped(world, 0)
    opening = world.grippers()[0].opening_m
    start = world.time_s
    run(world, GripperMove(ARM, opening + 0.02), group=3)
    assert world.time_s - start < 0.4
    world.step_until(world.time_s + 1.0, True)
    assert not any("finger" in c for c in world.true_contacts())


def test_fingers_are_where_they_are_reported(world: TwinWorld) -> None:
    """Reported finger boxes hold the geometry, at full closure, in the TCP frame."""
    world.reset("r1", 1, "", "empty_table")
    run(world, GripperMove(ARM, 0.0))
    simulation = world._episode.simulation  # type: ignore[union-attr]
    X = world.arms()[0].X_world_tcp
    view = simulation.view()
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for geom in range(simulation.model.ngeom):
        if simulation.model.body(int(simulation.model.geom_bodyid[geom])).name.startswith("finger"):
            R = X[:3, :3].T @ view.geom(geom).xmat.reshape(3, 3)
            centre = X[:3, :3].T @ (view.geom(geom).xpos - X[:3, 3])
            half = np.abs(R) @ simulation.model.geom(geom).size
            low, high = np.minimum(low, centre - half), np.maximum(high, centre + half)
    tolerance = 1e-3
    assert low[2] == pytest.approx(-pika.FINGER_LENGTH_M, abs=tolerance)
    assert high[2] == pytest.approx(0.0, abs=tolerance)
    assert high[0] - low[0] == pytest.approx(pika.FINGER_WIDTH_M, abs=tolerance)
    assert high[1] - low[1] == pytest.approx(2 * pika.FINGER_THICKNESS_M, abs=2 * tolerance)
