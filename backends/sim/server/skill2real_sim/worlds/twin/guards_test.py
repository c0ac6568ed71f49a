"""Contacts on purpose, by surprise, and too hard."""

from __future__ import annotations

import numpy as np
import pytest

from ..base import GripperMove, Guard
from . import ur5e
from .capabilities import ARM
from .testing.drive import go_down_to, line_down, run, smooth
from .testing.oracle import run_oracle
from .world import TwinWorld

DOWN = np.array([0.0, 0.0, -1.0])


def over_the_table(world: TwinWorld, z_m: float = 0.03) -> None:
    world.reset("r1", 1, "", "empty_table")
    assert run(world, GripperMove(ARM, 0.0)).end_reason == "COMPLETED"
    go_down_to(world, 0.1, 0.42, z_m)


@pytest.mark.parametrize("speed", [0.02, 0.05, 0.1, 0.2])
def test_contact_that_was_asked_for(world: TwinWorld, speed: float) -> None:
    over_the_table(world)
    guard = Guard(force_n=10.0, direction_world=DOWN, contact_expected=True)
    status = run(world, line_down(world, 0.05, speed, guard))
    assert status.end_reason == "CONTACT"
    assert status.contact_force_n is not None
    assert -status.contact_force_n @ DOWN >= 10.0
    assert 0 < status.fraction_done < 1 and status.mean_force_n > 0
    arm = world.arms()[0]
    assert arm.mode == "IDLE" and abs(arm.X_world_tcp[2, 3]) < 0.005
    # The set-point is where the arm is: it rests there without pressing, and can go on from there.
    world.step_until(world.time_s + 0.2, True)
    assert np.linalg.norm(world.arms()[0].tcp_wrench[:3]) < 3.0
    q = world.arms()[0].q_rad
    assert run(world, smooth(q, np.array(ur5e.HOME_Q_RAD), 3.0), group=2).end_reason == "COMPLETED"


@pytest.mark.parametrize("speed", [0.03, 0.1])
def test_contact_that_nobody_asked_for(world: TwinWorld, speed: float) -> None:
    over_the_table(world)
    status = run(world, line_down(world, 0.05, speed, Guard()))
    assert status.end_reason == "UNEXPECTED_CONTACT"
    assert status.contact_force_n is not None
    assert np.linalg.norm(status.contact_force_n) >= ur5e.CONTACT_FORCE_DEFAULT_N


def test_a_crash_latches_a_protective_stop(world: TwinWorld) -> None:
    over_the_table(world, z_m=0.12)
    world.start_group(5, [line_down(world, 0.2, 0.6, Guard())])
    events = world.step_until(world.time_s + 5.0, False)
    faults = [e for e in events if e.kind == "fault"]
    assert len(faults) == 1
    assert faults[0].code == "protective_stop" and faults[0].arm == ARM and "resume" in faults[0].message
    assert world.groups()[-1].motions[0].end_reason == "PROTECTIVE_STOP"
    assert world.arms()[0].mode == "PROTECTIVE_STOP"
    world.step_until(world.time_s + 1.0, True)
    assert np.abs(world.arms()[0].qd_rad_s).max() < 1e-3
    with pytest.raises(ValueError, match="latched"):
        world.check_group([GripperMove(ARM, 0.05)])
    world.clear_stop()
    assert world.arms()[0].mode == "IDLE"
    q = world.arms()[0].q_rad
    assert run(world, smooth(q, np.array(ur5e.HOME_Q_RAD), 3.0), group=6).end_reason == "COMPLETED"


def test_a_link_that_hits_is_seen_too(world: TwinWorld) -> None:
    """The elbow is driven into the table; the jaw touches nothing."""
    world.reset("r1", 1, "", "empty_table")
    q = world.arms()[0].q_rad
    goal = q.copy()
    goal[1] = -3.6
    world.start_group(1, [smooth(q, goal, 1.2)])
    events = world.step_until(3.0, False)
    assert [e.code for e in events if e.kind == "fault"] == ["protective_stop"]
    touching = [pair for pair in world.true_contacts() if "link" in pair]
    assert touching and not any("finger" in pair for pair in world.true_contacts())


def test_a_direction_guards_one_way_only(world: TwinWorld) -> None:
    over_the_table(world)
    other_way = Guard(force_n=8.0, torque_nm=50.0, direction_world=-DOWN, contact_expected=True)
    status = run(world, line_down(world, 0.033, 0.05, other_way))
    # The table pushes up with far more than 8 N, but that is along the direction and not against it.
    assert status.end_reason != "CONTACT"
    assert world.arms()[0].tcp_wrench[2] > 15.0


def test_the_guard_is_relative_to_the_start(world: TwinWorld) -> None:
    """Standing on the table with a force, then lifting: the force that was there is no contact."""
    over_the_table(world)
    status = run(world, line_down(world, 0.032, 0.05, Guard(force_n=200.0, torque_nm=50.0)))
    assert status.end_reason in ("COMPLETED", "TIMEOUT")
    pressing = np.linalg.norm(world.arms()[0].tcp_wrench[:3])
    assert pressing > 12.0
    q = world.arms()[0].q_rad
    status = run(world, smooth(q, q, 0.5), group=8)
    assert status.end_reason == "COMPLETED"
    guard = Guard(force_n=10.0, contact_expected=True, direction_world=DOWN)
    up = line_down(world, -0.02, -0.05, guard)
    assert run(world, up, group=9).end_reason == "COMPLETED"


def test_a_heavy_object_at_full_acceleration_is_no_contact(world: TwinWorld) -> None:
    seed = next(s for s in range(400) if heavy(world, s))
    world.reset("r1", seed, "", "")
    from .testing import oracle as script

    bodies = world.true_bodies()
    target = next(b for b in bodies if b.role == "target")
    goal = next(b for b in bodies if b.role == "goal")
    arm = script.Oracle(world)
    # The pick alone: the place is left out by stopping after the lift.
    arm.place = lambda grasp, target, goal: None  # type: ignore[method-assign]
    arm.pick_and_place(target, goal, [b for b in bodies if b.role != "target"])
    assert any("finger" in c for c in world.true_contacts())
    q = world.arms()[0].q_rad
    swing = q + np.array([0.5, 0.0, 0.0, 0.0, 0.0, 1.0])
    duration = float(np.sqrt(5.7735 * 1.0 / ur5e.ACCELERATION_LIMIT_RAD_S2[0]))
    status = run(world, smooth(q, swing, duration), group=50)
    assert status.end_reason == "COMPLETED"
    assert status.mean_force_n < 5.0
    wrench = world.arms()[0].tcp_wrench
    assert wrench[2] == pytest.approx(-9.81 * target.mass_kg, rel=0.2)
    # Still held: it hangs with the jaw.
    held = next(b for b in world.true_bodies() if b.name == target.name)
    assert np.linalg.norm((held.X_world_body - world.arms()[0].X_world_tcp)[:3, 3]) < 0.09


def heavy(world: TwinWorld, seed: int) -> bool:
    from . import task_r1

    item = task_r1.draw(seed, "", ARM).spec.items[0]
    return item.mass_kg > 0.28 and item.kind in ("box", "can")


def test_the_oracle_needs_no_guard_exception(world: TwinWorld) -> None:
    world.reset("r1", 3, "", "")
    assert run_oracle(world).success
    assert world.arms()[0].mode == "IDLE"
