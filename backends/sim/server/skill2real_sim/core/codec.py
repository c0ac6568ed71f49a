"""From the world's dataclasses to the protocol's messages. The way back is read_motions.py."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from skill2real_sim.wire import device_pb2 as dp
from skill2real_sim.wire import privileged_pb2 as pp
from skill2real_sim.worlds import base


def numbers(values: ArrayLike) -> list[float]:
    """Row-major plain floats, which protobuf takes several times faster than numpy scalars."""
    return np.asarray(values, dtype=np.float64).ravel().tolist()


def capabilities_message(plain: dict[str, object], clock: dp.Clock, version: str) -> dp.Capabilities:
    """Fails with ValueError on a key that the protocol does not know."""
    message = dp.Capabilities(**_plain_lists(plain))
    message.backend = "sim"
    message.clock = clock
    message.version = version
    return message


def _plain_lists(value: object) -> object:
    if isinstance(value, dict):
        return {key: _plain_lists(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return numbers(value)
    if isinstance(value, list | tuple):
        return [_plain_lists(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def arm_message(arm: base.ArmState) -> dp.ArmState:
    return dp.ArmState(
        name=arm.name,
        q_rad=numbers(arm.q_rad),
        qd_rad_s=numbers(arm.qd_rad_s),
        X_world_tcp=numbers(arm.X_world_tcp),
        tcp_wrench=numbers(arm.tcp_wrench),
        mode=dp.ArmMode.Value(arm.mode),
        time_s=arm.time_s,
    )


def gripper_message(gripper: base.GripperState) -> dp.GripperState:
    return dp.GripperState(
        arm=gripper.arm,
        opening_m=gripper.opening_m,
        target_opening_m=gripper.target_opening_m,
        force_n=gripper.force_n,
        moving=gripper.moving,
        stalled=gripper.stalled,
        time_s=gripper.time_s,
    )


def motion_message(motion: base.MotionStatus) -> dp.MotionStatus:
    return dp.MotionStatus(
        index=motion.index,
        end_reason=dp.END_UNSPECIFIED
        if motion.end_reason is None
        else dp.EndReason.Value("END_" + motion.end_reason),
        end_time_s=motion.end_time_s,
        fraction_done=motion.fraction_done,
        contact_force_n=[] if motion.contact_force_n is None else numbers(motion.contact_force_n),
        reached_point=motion.reached_point,
        mean_force_n=motion.mean_force_n,
    )


def group_message(group: base.GroupStatus) -> dp.GroupStatus:
    return dp.GroupStatus(
        group=group.group, active=group.active, motions=[motion_message(motion) for motion in group.motions]
    )


def frame_message(frame: base.Frame, part: int, arms: Iterable[dp.ArmState]) -> dp.Frame:
    return dp.Frame(
        camera=frame.camera,
        width=frame.width,
        height=frame.height,
        format=frame.format,
        part=part,
        exposure_time_s=frame.exposure_time_s,
        fx_px=frame.fx_px,
        fy_px=frame.fy_px,
        cx_px=frame.cx_px,
        cy_px=frame.cy_px,
        parent=frame.parent,
        X_parent_camera=numbers(frame.X_parent_camera),
        X_world_camera=numbers(frame.X_world_camera),
        arms_at_exposure=arms,
    )


def evaluation_message(evaluation: base.Evaluation) -> pp.EvaluateReply:
    return pp.EvaluateReply(
        success=evaluation.success,
        predicates=[
            pp.Predicate(name=p.name, holds=p.holds, measure=p.measure, unit=p.unit, limit=p.limit)
            for p in evaluation.predicates
        ],
        failure_kind=evaluation.failure_kind,
    )


def body_message(body: base.TrueBody) -> pp.TrueBody:
    return pp.TrueBody(
        name=body.name,
        kind=body.kind,
        colour=body.colour,
        X_world_body=numbers(body.X_world_body),
        size_m=numbers(body.size_m),
        mass_kg=body.mass_kg,
        role=body.role,
    )
