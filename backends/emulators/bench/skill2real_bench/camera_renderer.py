"""Draws one model from any optical frame with exact intrinsics: colour and true depth of one moment."""

from __future__ import annotations

import atexit
import importlib

import mujoco
import numpy as np
from numpy.typing import NDArray
from skill2real_sim.worlds.twin import RENDERER
from skill2real_sim.worlds.twin.rendering import SEEN_GROUPS

from .bench_cameras import Intrinsics

F64 = NDArray[np.float64]

MAX_WIDTH_PX, MAX_HEIGHT_PX = 704, 544


class CameraRenderer:
    """One GL context; belongs to the thread that first draws."""

    def __init__(self) -> None:
        self._gl: object | None = None
        self._context: mujoco.MjrContext | None = None
        self._scene: mujoco.MjvScene | None = None
        self._model: mujoco.MjModel | None = None
        self._data: mujoco.MjData | None = None
        self._option = mujoco.MjvOption()
        self._option.geomgroup[:] = SEEN_GROUPS
        self._perturb = mujoco.MjvPerturb()
        self._camera = mujoco.MjvCamera()

    def use_model(self, model: mujoco.MjModel) -> None:
        """Takes the model over: its textures go to the renderer now."""
        model.vis.global_.offwidth, model.vis.global_.offheight = MAX_WIDTH_PX, MAX_HEIGHT_PX
        if self._context is not None:
            self._context.free()
        if self._gl is None:
            self._gl = importlib.import_module(f"mujoco.{RENDERER}").GLContext(MAX_WIDTH_PX, MAX_HEIGHT_PX)
            atexit.register(self.close)
        self._gl.make_current()
        self._model, self._data = model, mujoco.MjData(model)
        self._scene = mujoco.MjvScene(model, maxgeom=2 * model.ngeom + 64)
        self._context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, self._context)

    def pose(self, qpos: F64) -> F64:
        """Puts everything where qpos says; returns the true X_world_tcp."""
        model, data = self._model, self._data
        assert model is not None and data is not None
        data.qpos[:] = qpos
        mujoco.mj_kinematics(model, data)
        mujoco.mj_camlight(model, data)
        site = data.site("tcp")
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = site.xmat.reshape(3, 3), site.xpos
        return X

    def draw(
        self, X_world_camera: F64, intrinsics: Intrinsics, width: int, height: int, depth: bool
    ) -> tuple[NDArray[np.uint8], NDArray[np.float32] | None]:
        """Top-left RGB8 (height, width, 3) and, where asked, depth along its axis [m]; no distortion."""
        context, scene = self._context, self._scene
        assert context is not None and scene is not None
        category = mujoco.mjtCatBit.mjCAT_ALL.value
        mujoco.mjv_updateScene(
            self._model, self._data, self._option, self._perturb, self._camera, category, scene
        )
        scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = 0
        scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = 0
        near, far = self._aim(scene, X_world_camera, intrinsics, width, height)
        viewport = mujoco.MjrRect(0, 0, width, height)
        mujoco.mjr_render(viewport, scene, context)
        rows = np.empty((height, width, 3), dtype=np.uint8)
        buffer = np.empty((height, width), dtype=np.float32) if depth else None
        mujoco.mjr_readPixels(rows, buffer, viewport, context)
        if buffer is None:
            return np.ascontiguousarray(rows[::-1]), None
        z = np.float32(near) / (np.float32(1) - buffer[::-1] * np.float32(1 - near / far))
        return np.ascontiguousarray(rows[::-1]), z

    def _aim(
        self, scene: mujoco.MjvScene, X_world_camera: F64, k: Intrinsics, width: int, height: int
    ) -> tuple[float, float]:
        assert self._model is not None
        extent = float(self._model.stat.extent)
        near, far = self._model.vis.map.znear * extent, self._model.vis.map.zfar * extent
        # The image's edges lie half a pixel outside the centres of its first and last pixels.
        left, right = -near * (k.cx_px + 0.5) / k.fx_px, near * (width - 0.5 - k.cx_px) / k.fx_px
        top, bottom = near * (k.cy_px + 0.5) / k.fy_px, -near * (height - 0.5 - k.cy_px) / k.fy_px
        for camera in scene.camera:
            camera.pos = X_world_camera[:3, 3]
            camera.forward = X_world_camera[:3, 2]
            camera.up = -X_world_camera[:3, 1]
            camera.frustum_center = (left + right) / 2
            camera.frustum_width = (right - left) / 2
            camera.frustum_top, camera.frustum_bottom = top, bottom
            camera.frustum_near, camera.frustum_far = near, far
        return near, far

    def close(self) -> None:
        if self._gl is not None:
            self._gl.make_current()
            if self._context is not None:
                self._context.free()
            self._gl.free()
            self._gl = self._context = None
