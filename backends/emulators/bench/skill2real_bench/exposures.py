"""One exposure of a camera: pictures of one state, as the sensor with its faults would hand them over."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from skill2real_sim.worlds.twin.cameras import HEIGHT_PX, WIDTH_PX
from skill2real_sim.worlds.twin.streams import image_noise

from .bench_cameras import CAMERA_NAMES, BenchCamera
from .camera_renderer import CameraRenderer
from .depth_sensor import measure_depth
from .lens import Lens
from .render_state import RenderState
from .rig_draw import RigDraw

F64 = NDArray[np.float64]

LENS_MARGIN_PX = 16
GREY_SIGMA_LEVELS = 1.2
BAD_SIGMA_LEVELS = 30.0
BAD_DEPTH_LOST = 0.4
_LUMA = np.array([77, 150, 29], dtype=np.uint16)  # of 256


@dataclass
class Exposure:
    """Header and raw parts of a reply; times are CLOCK_MONOTONIC seconds."""

    header: dict[str, object]
    parts: list[memoryview]
    exposure_time_s: float
    arrival_time_s: float
    with_infrared: bool


class Sensor:
    """Takes exposures of one camera of a rig, at its true place and with its true errors."""

    def __init__(self, camera: BenchCamera, rig: RigDraw, renderer: CameraRenderer) -> None:
        self.camera = camera
        self._rig = rig
        self._renderer = renderer
        self._index = CAMERA_NAMES.index(camera.name)
        self._lens = (
            Lens(camera.color, WIDTH_PX, HEIGHT_PX, LENS_MARGIN_PX) if camera.color.distorted else None
        )
        # One imager for colour and depth: one picture gives both.
        self._one_imager = self._lens is None and bool((camera.X_color_depth == np.eye(4)).all())
        self.number = 0

    def expose(self, state: RenderState, with_infrared: bool, bad: bool, serial: str) -> Exposure:
        camera, renderer = self.camera, self._renderer
        self.number += 1
        X_world_tcp = renderer.pose(state.qpos)
        X_world_color = camera.X_parent_camera @ self._rig.X_nominal_true[camera.name]
        if camera.mount == "tcp":
            X_world_color = X_world_tcp @ X_world_color
        X_world_left = X_world_color @ camera.X_color_depth
        left, z = renderer.draw(X_world_left, camera.depth, WIDTH_PX, HEIGHT_PX, depth=True)
        assert z is not None
        color = left if self._one_imager else self._color(X_world_color)
        sigma = BAD_SIGMA_LEVELS if bad else GREY_SIGMA_LEVELS
        color = self._noisy(color, state.tick, 0, sigma)
        rng = self._random(state.tick)
        depth = measure_depth(
            z,
            camera.depth.fx_px * camera.baseline_m,
            camera.disparity_sigma_px,
            (camera.near_m, camera.far_m),
            camera.units_m,
            rng,
        )
        if bad:
            depth[rng.random(depth.shape, dtype=np.float32) < BAD_DEPTH_LOST] = 0
        parts = [color, depth]
        header: dict[str, object] = {
            "camera": camera.name,
            "serial": serial,
            "width": WIDTH_PX,
            "height": HEIGHT_PX,
            "frame_number": self.number,
            "exposure_time_s": state.host_time_s,
            "color": {"format": "rgb8", "part": 1, **camera.color.message()},
            "depth": {"format": "z16", "part": 2, "units_m": camera.units_m, **camera.depth.message()},
            "X_color_depth": camera.X_color_depth.ravel().tolist(),
        }
        if with_infrared:
            right, _ = renderer.draw(
                self._right_of(X_world_left), camera.depth, WIDTH_PX, HEIGHT_PX, depth=False
            )
            parts += [
                self._noisy(_grey(left), state.tick, 1, sigma),
                self._noisy(_grey(right), state.tick, 2, sigma),
            ]
            header["infrared"] = {
                "format": "y8",
                "left_part": 3,
                "right_part": 4,
                "baseline_m": camera.baseline_m,
                **camera.depth.message(),
            }
        latency_s = self._rig.latency_s(camera.name, self.number)
        views = [memoryview(part.reshape(-1).view(np.uint8)) for part in parts]
        arrival_s = state.host_time_s + latency_s
        return Exposure(header, views, state.host_time_s, arrival_s, with_infrared)

    def _color(self, X_world_color: F64) -> NDArray[np.uint8]:
        if self._lens is None:
            return self._renderer.draw(X_world_color, self.camera.color, WIDTH_PX, HEIGHT_PX, depth=False)[0]
        lens = self._lens
        ideal, _ = self._renderer.draw(X_world_color, lens.wide, lens.width, lens.height, depth=False)
        return lens.apply(ideal)

    def _right_of(self, X_world_left: F64) -> F64:
        X = X_world_left.copy()
        X[:3, 3] += self.camera.baseline_m * X[:3, 0]
        return X

    def _noisy(
        self, picture: NDArray[np.uint8], tick: int, imager: int, sigma_levels: float
    ) -> NDArray[np.uint8]:
        noise = image_noise(self._rig.seed, 10 + 3 * self._index + imager, tick, picture.shape, sigma_levels)
        return np.clip(picture.astype(np.int16) + noise, 0, 255).astype(np.uint8)

    def _random(self, tick: int) -> np.random.Generator:
        """Of depth: a function of rig seed, camera and control tick alone."""
        key = np.random.SeedSequence(self._rig.seed, spawn_key=(zlib.crc32(b"rig depth"), self._index, tick))
        return np.random.Generator(np.random.SFC64(key))


def _grey(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return ((picture.astype(np.uint16) * _LUMA).sum(axis=2, dtype=np.uint16) >> 8).astype(np.uint8)
