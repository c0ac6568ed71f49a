from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from skill2real_sim.core.codec import capabilities_message
from skill2real_sim.core.read_motions import read_motions
from skill2real_sim.core.refusal import Refusal
from skill2real_sim.core.testing.fake_world import FakeWorld
from skill2real_sim.wire import device_pb2 as dp
from skill2real_sim.worlds import base

CAPABILITIES = capabilities_message(FakeWorld().capabilities(), dp.SIM, "0")


def _trajectory(**changes: object) -> dp.Motion:
    fields = {"arm": "arm", "time_s": [0.0, 1.0], "q_rad": [0.0] * 12, **changes}
    return dp.Motion(joint_trajectory=dp.JointTrajectory(**fields))


def _grip(**changes: object) -> dp.Motion:
    return dp.Motion(gripper_move=dp.GripperMove(**{"arm": "arm", "opening_m": 0.05, **changes}))


def test_a_group_comes_through() -> None:
    guard = dp.Guard(force_n=10, direction_world=[0, 0, -2], contact_expected=True)
    arm, gripper = read_motions(
        dp.Execute(motions=[_trajectory(guard=guard), _grip(force_n=5)]), CAPABILITIES
    )
    assert isinstance(arm, base.JointTrajectory)
    assert arm.q_rad.shape == (2, 6)
    assert arm.guard.direction_world is not None
    np.testing.assert_array_equal(arm.guard.direction_world, [0, 0, -1])
    assert gripper == base.GripperMove("arm", 0.05, 5.0, 0.0)


REFUSED: dict[str, Callable[[], list[dp.Motion]]] = {
    "0 motions": lambda: [],
    "5 motions": lambda: [_grip() for _ in range(5)],
    "is empty": lambda: [dp.Motion()],
    "second motion for arm arm": lambda: [_trajectory(), _trajectory()],
    "second motion for gripper arm": lambda: [_grip(), _grip()],
    "no arm 'other'": lambda: [_trajectory(arm="other")],
    "no gripper on arm 'other'": lambda: [_grip(arm="other")],
    "1 points": lambda: [_trajectory(time_s=[0.0], q_rad=[0.0] * 6)],
    "100001 points": lambda: [_trajectory(time_s=list(range(100_001)), q_rad=[])],
    "must be 0": lambda: [_trajectory(time_s=[0.1, 1.0])],
    "does not rise after point 1": lambda: [_trajectory(time_s=[0.0, 1.0, 1.0], q_rad=[0.0] * 18)],
    "does not rise after point 0": lambda: [_trajectory(time_s=[0.0, -1.0])],
    "at most 600 s": lambda: [_trajectory(time_s=[0.0, 601.0])],
    "time_s holds nan": lambda: [_trajectory(time_s=[0.0, math.nan])],
    "q_rad holds nan at index 3": lambda: [_trajectory(q_rad=[0, 0, 0, math.nan] + [0] * 8)],
    "q_rad holds inf": lambda: [_trajectory(q_rad=[math.inf] * 12)],
    "11 numbers for 2 points": lambda: [_trajectory(q_rad=[0.0] * 11)],
    "opening_m is -0.01": lambda: [_grip(opening_m=-0.01)],
    "opening_m is 0.096; give 0 to 0.095": lambda: [_grip(opening_m=0.096)],
    "opening_m is nan": lambda: [_grip(opening_m=math.nan)],
    "force_n is 41": lambda: [_grip(force_n=41.0)],
    "speed_m_s is inf": lambda: [_grip(speed_m_s=math.inf)],
    "guard force_n is nan": lambda: [_trajectory(guard=dp.Guard(force_n=math.nan))],
    "guard torque_nm is -1": lambda: [_trajectory(guard=dp.Guard(torque_nm=-1.0))],
    "direction_world must be": lambda: [_trajectory(guard=dp.Guard(direction_world=[0, 0, 0]))],
    "direction_world must": lambda: [_trajectory(guard=dp.Guard(direction_world=[0, 1]))],
    "direction_world holds nan": lambda: [_trajectory(guard=dp.Guard(direction_world=[0, 0, math.nan]))],
}


@pytest.mark.parametrize("words", REFUSED)
def test_a_wrong_motion_is_refused_in_words(words: str) -> None:
    with pytest.raises(Refusal) as refused:
        read_motions(dp.Execute(motions=REFUSED[words]()), CAPABILITIES)
    assert refused.value.code == dp.ERROR_BAD_ARGUMENT
    assert words in refused.value.message


def test_a_tcp_path_needs_the_feature_and_a_rotation() -> None:
    path = dp.TcpPath(arm="arm", time_s=[0, 1], X_world_tcp=[*np.eye(4).ravel(), *np.eye(4).ravel()])
    execute = dp.Execute(motions=[dp.Motion(tcp_path=path)])
    with pytest.raises(Refusal) as refused:
        read_motions(execute, CAPABILITIES)
    assert refused.value.code == dp.ERROR_UNSUPPORTED

    able = dp.Capabilities()
    able.CopyFrom(CAPABILITIES)
    able.features.append("tcp_path")
    (motion,) = read_motions(execute, able)
    assert isinstance(motion, base.TcpPath)
    assert motion.X_world_tcp.shape == (2, 4, 4)

    execute.motions[0].tcp_path.X_world_tcp[0] = 1.2
    with pytest.raises(Refusal, match="not a rotation"):
        read_motions(execute, able)
    execute.motions[0].tcp_path.X_world_tcp[0] = -1.0
    with pytest.raises(Refusal, match="not a rotation"):
        read_motions(execute, able)


def test_a_gripper_without_command_is_unsupported() -> None:
    fixed = dp.Capabilities()
    fixed.CopyFrom(CAPABILITIES)
    fixed.grippers[0].control = "none"
    with pytest.raises(Refusal) as refused:
        read_motions(dp.Execute(motions=[_grip()]), fixed)
    assert refused.value.code == dp.ERROR_UNSUPPORTED
