"""The twin's Capabilities message as plain data."""

from __future__ import annotations

import numpy as np

from . import mjcf_table, pika, ur5e
from .cameras import HEIGHT_PX, WIDTH_PX, StereoPair
from .mjcf_scene import TIMESTEP_S

ARM = "arm"
# Box that the TCP may be commanded in: the table in front of the base, from just above its top.
WORKSPACE_MIN_M = (-0.50, 0.12, 0.0)
WORKSPACE_MAX_M = (0.50, 0.80, 0.60)
FEATURES = ("joint_trajectory", "gripper", "contact_guard", "measured_gripper")


def arm_entry() -> dict[str, object]:
    return {
        "name": ARM,
        "model": "UR5e",
        "dh": [
            {"a_m": a, "d_m": d, "alpha_rad": alpha, "theta_offset_rad": 0.0}
            for a, d, alpha in zip(ur5e.DH_A_M, ur5e.DH_D_M, ur5e.DH_ALPHA_RAD, strict=True)
        ],
        "X_world_base": np.eye(4).ravel().tolist(),
        "X_flange_tcp": pika.X_FLANGE_TCP.ravel().tolist(),
        "limits": [
            {
                "position_min_rad": -ur5e.POSITION_LIMIT_RAD[j],
                "position_max_rad": ur5e.POSITION_LIMIT_RAD[j],
                "velocity_rad_s": ur5e.VELOCITY_LIMIT_RAD_S[j],
                "acceleration_rad_s2": ur5e.ACCELERATION_LIMIT_RAD_S2[j],
                "jerk_rad_s3": ur5e.JERK_LIMIT_RAD_S3[j],
                "torque_nm": ur5e.TORQUE_LIMIT_NM[j],
            }
            for j in range(ur5e.JOINT_COUNT)
        ],
        "capsules": [
            {
                "link": c.link,
                "p0_m": list(c.p0_m),
                "p1_m": list(c.p1_m),
                "radius_m": c.radius_m,
                "name": c.name,
            }
            for c in (*ur5e.CAPSULES, *pika.BODY_CAPSULES)
        ],
        "home_q_rad": list(ur5e.HOME_Q_RAD),
        "kinematics_source": "nominal",
        "contact_force_default_n": ur5e.CONTACT_FORCE_DEFAULT_N,
        "contact_torque_default_nm": ur5e.CONTACT_TORQUE_DEFAULT_NM,
    }


def gripper_entry() -> dict[str, object]:
    return {
        "arm": ARM,
        "control": "width",
        "measured": True,
        "max_opening_m": pika.MAX_OPENING_M,
        "stroke_m": pika.STROKE_M,
        "max_force_n": pika.MAX_FORCE_N,
        "max_speed_m_s": pika.MAX_SPEED_M_S,
        "finger_length_m": pika.FINGER_LENGTH_M,
        "finger_width_m": pika.FINGER_WIDTH_M,
        "finger_thickness_m": pika.FINGER_THICKNESS_M,
    }


def camera_entries(pairs: tuple[StereoPair, ...]) -> list[dict[str, object]]:
    entries = []
    for pair in pairs:
        for camera in pair.cameras():
            cx, cy = camera.principal_px
            entries.append(
                {
                    "name": camera.name,
                    "parent": camera.parent,
                    "width": WIDTH_PX,
                    "height": HEIGHT_PX,
                    "fx_px": camera.focal_px,
                    "fy_px": camera.focal_px,
                    "cx_px": cx,
                    "cy_px": cy,
                    "X_parent_camera": camera.X_parent_camera.ravel().tolist(),
                    "format": "rgb8",
                }
            )
    return entries


def view_entries(pairs: tuple[StereoPair, ...]) -> list[dict[str, object]]:
    return [
        {
            "role": pair.role,
            "arm": ARM if pair.parent != "world" else "",
            "left": pair.left,
            "right": pair.right,
            "depth": "",
            "baseline_m": pair.baseline_m,
        }
        for pair in pairs
    ]


def capabilities(pairs: tuple[StereoPair, ...]) -> dict[str, object]:
    return {
        "embodiment": "robot",
        "arms": [arm_entry()],
        "grippers": [gripper_entry()],
        "cameras": camera_entries(pairs),
        "views": view_entries(pairs),
        "features": list(FEATURES),
        "step_limit": 0,
        "control_period_s": TIMESTEP_S,
        "workspace": {
            "table_z_m": mjcf_table.TABLE_Z_M,
            "min_xyz_m": list(WORKSPACE_MIN_M),
            "max_xyz_m": list(WORKSPACE_MAX_M),
        },
    }
