"""Renders one model's cameras off screen; nothing is rendered until a picture is asked for."""

from __future__ import annotations

import atexit
import importlib
from typing import Protocol

import mujoco
import numpy as np
from numpy.typing import NDArray

from . import RENDERER
from .cameras import HEIGHT_PX, WIDTH_PX
from .conventions import top_left_image

F64 = NDArray[np.float64]

# Collision helpers that are not meant to be seen are in group 4.
SEEN_GROUPS = (1, 1, 1, 0, 0, 0)


class _GlContext(Protocol):
    def make_current(self) -> None: ...

    def free(self) -> None: ...


class Renderer:
    """One GL context of the process, one set of uploaded meshes and textures per model.

    A GL context belongs to the thread that made it: create and use a Renderer in one thread.
    """

    def __init__(self) -> None:
        self._gl: _GlContext | None = None
        self._context: mujoco.MjrContext | None = None
        self._scene: mujoco.MjvScene | None = None
        self._model: mujoco.MjModel | None = None
        self._data: mujoco.MjData | None = None
        self._option = mujoco.MjvOption()
        self._option.geomgroup[:] = SEEN_GROUPS
        self._perturb = mujoco.MjvPerturb()
        self._camera = mujoco.MjvCamera()
        self._camera.type = mujoco.mjtCamera.mjCAMERA_FIXED
        self._viewport = mujoco.MjrRect(0, 0, WIDTH_PX, HEIGHT_PX)
        self._rows = np.empty((HEIGHT_PX, WIDTH_PX, 3), dtype=np.uint8)

    def use_model(self, model: mujoco.MjModel) -> None:
        """The model that later pictures show; its upload waits for the first of them."""
        if model is not self._model:
            self._model, self._data = model, mujoco.MjData(model)
            self._drop_context()

    def _drop_context(self) -> None:
        if self._context is not None:
            self._context.free()
        self._context = self._scene = None

    def _ready(self) -> tuple[mujoco.MjrContext, mujoco.MjvScene]:
        if self._model is None:
            raise RuntimeError("no model to render")
        if self._gl is None:
            # Named, not mujoco.GLContext: that one is fixed by whoever imported the engine first.
            self._gl = importlib.import_module(f"mujoco.{RENDERER}").GLContext(WIDTH_PX, HEIGHT_PX)
            # Registered after the platform's own clean-up, so it runs before it.
            atexit.register(self.close)
        self._gl.make_current()
        if self._context is None or self._scene is None:
            self._scene = mujoco.MjvScene(self._model, maxgeom=2 * self._model.ngeom + 64)
            self._context = mujoco.MjrContext(self._model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
            mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, self._context)
        return self._context, self._scene

    def render(self, cameras: list[str], qpos: F64) -> list[NDArray[np.uint8]]:
        """Top-left RGB8 (480, 640, 3) images, without noise, of new memory."""
        context, scene = self._ready()
        model, data = self._model, self._data
        assert model is not None and data is not None
        data.qpos[:] = qpos
        mujoco.mj_kinematics(model, data)
        mujoco.mj_camlight(model, data)
        images = []
        for name in cameras:
            self._camera.fixedcamid = model.camera(name).id
            mujoco.mjv_updateScene(
                model,
                data,
                self._option,
                self._perturb,
                self._camera,
                mujoco.mjtCatBit.mjCAT_ALL.value,
                scene,
            )
            scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = 0
            scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = 0
            mujoco.mjr_render(self._viewport, scene, context)
            mujoco.mjr_readPixels(self._rows, None, self._viewport, context)
            images.append(top_left_image(self._rows))
        return images

    def close(self) -> None:
        if self._gl is not None:
            self._gl.make_current()
            self._drop_context()
            self._gl.free()
            self._gl = None
