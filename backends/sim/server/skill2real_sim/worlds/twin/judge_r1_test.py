"""Verdicts on states that the test builds by hand (only here are bodies put anywhere)."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

from ..base import Evaluation
from . import judge_r1, task_r1
from .capabilities import ARM
from .conventions import wxyz_from_matrix
from .items import GOAL_KINDS, Item
from .simulation import Simulation
from .world import TwinWorld


def seed_for(target_kind: str, goal_kind: str, with_other_goal: bool = False) -> int:
    for seed in range(2000):
        items = task_r1.draw(seed, "", ARM).spec.items
        if (items[0].kind, items[1].kind) != (target_kind, goal_kind):
            continue
        if not with_other_goal or any(i.kind in ("tray", "bowl") for i in items[2:]):
            return seed
    raise AssertionError("no such task in 2000 seeds")


def simulation_of(world: TwinWorld) -> Simulation:
    return world._episode.simulation  # type: ignore[union-attr]


def items_of(world: TwinWorld) -> tuple[Item, ...]:
    return world._episode.r1.spec.items  # type: ignore[union-attr]


def put(world: TwinWorld, body: str, position: tuple[float, float, float], tilt_rad: float = 0.0) -> None:
    simulation = simulation_of(world)
    model, state_kind = simulation.model, mujoco.mjtState.mjSTATE_INTEGRATION
    state = np.empty(mujoco.mj_stateSize(model, state_kind))
    mujoco.mj_getState(model, simulation.data, state, state_kind)
    # In new data everything is awake: a sleeping body would not notice that it hangs in the air.
    awake = mujoco.MjData(model)
    mujoco.mj_setState(model, awake, state, state_kind)
    address = int(model.joint(f"free_{body}").qposadr[0])
    c, s = math.cos(tilt_rad), math.sin(tilt_rad)
    awake.qpos[address : address + 3] = position
    awake.qpos[address + 3 : address + 7] = wxyz_from_matrix(np.array([[1, 0, 0], [0, c, -s], [0, s, c]]))
    mujoco.mj_forward(model, awake)
    simulation.restore_engine(awake)


def settle(world: TwinWorld) -> Evaluation:
    world.step_until(world.time_s + 1.5, True)
    return world.evaluate()


def goal_place(world: TwinWorld, offset_m: float = 0.0, height_m: float = 0.01) -> tuple[float, float, float]:
    target, goal = items_of(world)[:2]
    return goal.x_m + offset_m, goal.y_m, target.size_m[2] / 2 + height_m


def holds(evaluation: Evaluation) -> dict[str, bool]:
    return {p.name: p.holds for p in evaluation.predicates}


@pytest.mark.parametrize("goal", GOAL_KINDS)
@pytest.mark.parametrize("target", ["box", "cylinder", "can", "ball"])
def test_a_target_at_rest_in_its_goal_succeeds(world: TwinWorld, target: str, goal: str) -> None:
    if (target, goal) == ("ball", "mat"):
        pytest.skip("a ball is never asked onto a mat")
    world.reset("r1", seed_for(target, goal), "", "")
    put(world, "item0", goal_place(world))
    evaluation = settle(world)
    assert evaluation.success, evaluation
    assert evaluation.failure_kind == "" and all(p.holds for p in evaluation.predicates)


def test_nothing_done_is_not_grasped(world: TwinWorld) -> None:
    world.reset("r1", 0, "", "")
    evaluation = settle(world)
    assert not evaluation.success and evaluation.failure_kind == "not_grasped"


def test_half_over_the_edge_of_a_mat_fails(world: TwinWorld) -> None:
    world.reset("r1", seed_for("cylinder", "mat"), "", "")
    goal = items_of(world)[1]
    put(world, "item0", goal_place(world, offset_m=goal.size_m[0] / 2))
    evaluation = settle(world)
    assert not evaluation.success and evaluation.failure_kind == "wrong_place"
    assert not holds(evaluation)["target_inside_goal"]


def test_on_the_rim_of_a_tray_fails(world: TwinWorld) -> None:
    world.reset("r1", seed_for("box", "tray"), "", "")
    goal = items_of(world)[1]
    edge = goal.size_m[0] / 2
    put(
        world,
        "item0",
        (goal.x_m + edge * math.cos(goal.yaw_rad), goal.y_m + edge * math.sin(goal.yaw_rad), 0.06),
    )
    evaluation = settle(world)
    assert not evaluation.success and not holds(evaluation)["target_inside_goal"]


def test_another_object_in_the_goal_is_the_wrong_object(world: TwinWorld) -> None:
    world.reset("r1", seed_for("box", "tray"), "", "")
    other = next(i for i in items_of(world)[2:] if i.kind not in GOAL_KINDS)
    goal = items_of(world)[1]
    put(world, other.body, (goal.x_m, goal.y_m, other.size_m[2] / 2 + 0.01))
    evaluation = settle(world)
    assert not evaluation.success and evaluation.failure_kind == "wrong_object"


def test_the_wrong_container_is_the_wrong_place(world: TwinWorld) -> None:
    world.reset("r1", seed_for("box", "tray", with_other_goal=True), "", "")
    wrong = next(i for i in items_of(world)[2:] if i.kind in ("tray", "bowl"))
    put(world, "item0", (wrong.x_m, wrong.y_m, 0.06))
    evaluation = settle(world)
    assert not evaluation.success and evaluation.failure_kind == "wrong_place"


def test_falling_is_not_at_rest_and_then_off_the_table(world: TwinWorld) -> None:
    world.reset("r1", seed_for("ball", "tray"), "", "")
    put(world, "item0", (0.9, 0.4, 0.3))
    world.step_until(0.2, True)
    assert world.evaluate().failure_kind == "not_at_rest"
    assert settle(world).failure_kind == "off_table"


def test_a_target_between_the_fingers_is_not_released(world: TwinWorld) -> None:
    from .testing import oracle as script

    world.reset("r1", seed_for("box", "bowl"), "", "")
    arm = script.Oracle(world)
    arm.place = lambda grasp, target, goal: None  # type: ignore[method-assign]
    bodies = world.true_bodies()
    target, goal = bodies[0], bodies[1]
    evaluation = arm.pick_and_place(target, goal, bodies[1:])
    assert not evaluation.success and evaluation.failure_kind == "not_released"
    # Let go in the air, away from the goal: it was lifted, and dropped.
    arm._grip(0.095)
    far = settle(world)
    assert not far.success and far.failure_kind in ("dropped", "wrong_place")


def test_an_upset_tray_fails(world: TwinWorld) -> None:
    world.reset("r1", seed_for("box", "tray"), "", "")
    goal = items_of(world)[1]
    put(world, "item1", (goal.x_m, goal.y_m, 0.15), tilt_rad=math.pi * 0.9)
    put(world, "item0", (goal.x_m, goal.y_m, 0.35))
    evaluation = settle(world)
    assert not evaluation.success and not holds(evaluation)["goal_upright"]


def test_an_empty_table_has_no_target(world: TwinWorld) -> None:
    info = world.reset("r1", 0, "", "empty_table")
    assert info.instruction.startswith("Put the ")
    assert world.evaluate().failure_kind == "no_target"


def test_margin_of_a_square_is_that_of_its_nearest_corner() -> None:
    target = Item("t", "box", "red", (0.04, 0.04, 0.04), 0.1, 0.8, 0, 0, 0, "target")
    goal = Item("g", "mat", "blue", (0.14, 0.14, 0.003), 0.0, 0.8, 0, 0, 0, "goal")
    quarter = math.pi / 4
    R = np.array(
        [[math.cos(quarter), -math.sin(quarter), 0], [math.sin(quarter), math.cos(quarter), 0], [0, 0, 1]]
    )
    at_goal = judge_r1.BodyView(goal, np.zeros(3), np.eye(3), 0.0)
    straight = judge_r1.BodyView(target, np.array([0.03, 0, 0.023]), np.eye(3), 0.0)
    turned = judge_r1.BodyView(target, np.array([0.03, 0, 0.023]), R, 0.0)
    assert judge_r1.inside_margin_m(straight, at_goal) == pytest.approx((0.02, 0.0))
    assert judge_r1.inside_margin_m(turned, at_goal)[0] == pytest.approx(0.04 - 0.02 * math.sqrt(2))


def test_only_what_is_below_the_rim_of_a_bowl_counts() -> None:
    can = Item("t", "can", "red", (0.06, 0.06, 0.10), 0.1, 0.8, 0, 0, 0, "target")
    bowl = Item("g", "bowl", "blue", (0.16, 0.16, 0.05), 0.4, 0.8, 0, 0, 0, "goal")
    at_goal = judge_r1.BodyView(bowl, np.zeros(3), np.eye(3), 0.0)
    tilt = 0.6
    R = np.array([[math.cos(tilt), 0, math.sin(tilt)], [0, 1, 0], [-math.sin(tilt), 0, math.cos(tilt)]])
    # Leaning out over the rim at its top, with its foot in the bowl.
    leaning = judge_r1.BodyView(can, np.array([0.045, 0, 0.063]), R, 0.0)
    top = leaning.position_m + R @ np.array([0.03, 0, 0.05])
    assert top[0] > 0.076
    assert judge_r1.inside_margin_m(leaning, at_goal)[0] > -0.02
    upright_outside = judge_r1.BodyView(can, np.array([0.2, 0, 0.05]), np.eye(3), 0.0)
    assert judge_r1.inside_margin_m(upright_outside, at_goal)[0] < -0.1
