"""The camera process: draws what the cameras see and serves it, so that the plant never waits for a picture.

Frames are asked for on a ROUTER socket; REQ and DEALER clients both work. The bench speaks to this process by
lines of JSON on its standard input, each answered by one line; when that input ends, so does the process.
"""

from __future__ import annotations

import json
import math
import os
import select
import signal
import sys
import time
from collections import deque

import mujoco
import zmq
from skill2real_sim.core.log import LOGGER, log_to_stderr, settle_log
from skill2real_sim.core.parent_watch import die_with_parent

from .bench_cameras import CAMERAS
from .camera_channel import Answer, CameraChannel, FrameRequest
from .camera_renderer import CameraRenderer
from .exposures import Exposure, Sensor
from .faults import Fault
from .render_state import RenderMemory
from .rig_draw import draw_rig

MAX_REQUEST_BYTES = 4096
MAX_WAIT_S = 1.0
# When the last pictures were really taken, for whoever judges what a client says of them.
KEPT_EXPOSURES = 64
# Drawing gives way to the loops that move the arm.
NICENESS = 5
_REQUEST_KEYS = ("camera", "not_before_s", "infrared")


class FramesServer:
    def __init__(self, rig_seed: int, address: str, render_path: str) -> None:
        rig = draw_rig(rig_seed)
        self._renderer = CameraRenderer()
        self._render = RenderMemory(render_path, create=False)
        self._sensors = {camera.name: Sensor(camera, rig, self._renderer) for camera in CAMERAS}
        self._channels = {camera.name: CameraChannel(camera.name, camera.serial) for camera in CAMERAS}
        self._infrared = {camera.name: camera.has_infrared for camera in CAMERAS}
        self._epoch = 0
        self._exposures = 0
        self._taken_s = {camera.name: deque[float](maxlen=KEPT_EXPOSURES) for camera in CAMERAS}
        self._exposing_s = 0.0
        self._worst_s = 0.0
        self._context = zmq.Context(io_threads=1)
        self._socket = self._context.socket(zmq.ROUTER)
        self._socket.linger = 0
        self._socket.maxmsgsize = MAX_REQUEST_BYTES
        self._socket.bind(address)
        self._input = b""

    # ------------------------------------------------------------ loop

    def run(self) -> None:
        """Serves until its standard input ends."""
        poller = zmq.Poller()
        poller.register(self._socket, zmq.POLLIN)
        poller.register(0, zmq.POLLIN)
        while True:
            poller.poll(self._wait_ms(time.monotonic()))
            self._take_requests()
            if select.select([0], [], [], 0)[0] and not self._take_lines():
                return
            for channel in self._channels.values():
                sensor = self._sensors[channel.name]

                def expose(
                    not_before_s: float,
                    infrared: bool,
                    channel: CameraChannel = channel,
                    sensor: Sensor = sensor,
                ) -> Exposure | None:
                    return self._expose(sensor, channel, not_before_s, infrared)

                for answer in channel.advance(time.monotonic(), expose):
                    self._send(channel, answer)

    def _wait_ms(self, now_s: float) -> float:
        dues = [channel.next_due_s(now_s) for channel in self._channels.values()]
        wait_s = min([due - now_s for due in dues if due is not None], default=MAX_WAIT_S)
        return math.ceil(max(0.0, min(wait_s, MAX_WAIT_S)) * 1000)

    def _expose(
        self, sensor: Sensor, channel: CameraChannel, not_before_s: float, infrared: bool
    ) -> Exposure | None:
        state = self._render.read()
        now_s = time.monotonic()
        if state is None or state.epoch != self._epoch or state.host_time_s < not_before_s:
            return None
        if now_s - state.host_time_s > 0.1:
            return None  # the plant stands still; what it wrote last is not the present
        exposure = sensor.expose(state, infrared, channel.noisy, channel.shown_serial)
        done_s = time.monotonic()
        exposure.arrival_time_s = max(exposure.arrival_time_s, done_s)
        self._exposures += 1
        self._taken_s[channel.name].append(round(state.host_time_s, 6))
        self._exposing_s += done_s - now_s
        self._worst_s = max(self._worst_s, done_s - now_s)
        return exposure

    # ------------------------------------------------------------ requests

    def _take_requests(self) -> None:
        while self._socket.getsockopt(zmq.EVENTS) & zmq.POLLIN:
            frames = self._socket.recv_multipart(zmq.DONTWAIT)
            envelope = frames[:2] if len(frames) == 3 and frames[1] == b"" else frames[:1]
            try:
                name, request = self._parse(envelope, frames[len(envelope) :])
            except ValueError as error:
                self._reply(envelope, {"error": str(error)}, [])
                continue
            self._channels[name].ask(request)

    def _parse(self, envelope: list[bytes], parts: list[bytes]) -> tuple[str, FrameRequest]:
        if len(parts) != 1:
            raise ValueError(f"the request has {len(parts)} parts; it must be one of JSON")
        try:
            asked = json.loads(parts[0])
        except ValueError:
            raise ValueError("the request is not JSON") from None
        if not isinstance(asked, dict) or any(key not in _REQUEST_KEYS for key in asked):
            raise ValueError(f"the request must be an object with {', '.join(_REQUEST_KEYS)}")
        name, not_before = asked.get("camera"), asked.get("not_before_s", 0)
        if name not in self._channels:
            raise ValueError(f"no camera {name!r}; there is: {', '.join(self._channels)}")
        if isinstance(not_before, bool) or not isinstance(not_before, int | float):
            raise ValueError(f"not_before_s is {not_before!r}; give CLOCK_MONOTONIC seconds")
        if not math.isfinite(not_before):
            raise ValueError(f"not_before_s is {not_before!r}; give a finite time")
        infrared = asked.get("infrared", False)
        if not isinstance(infrared, bool):
            raise ValueError(f"infrared is {infrared!r}; give true or false")
        if infrared and not self._infrared[name]:
            raise ValueError(f"camera {name} hands out no infrared pair")
        return name, FrameRequest(envelope, float(not_before), infrared, time.monotonic())

    def _send(self, channel: CameraChannel, answer: Answer) -> None:
        if answer.exposure is None:
            self._reply(answer.envelope, {"error": answer.error}, [])
            return
        exposure = answer.exposure
        header = {**exposure.header, "arrival_time_s": exposure.arrival_time_s + channel.delay_s}
        parts = [part[: len(part) // 2] for part in exposure.parts] if channel.half else exposure.parts
        self._reply(answer.envelope, header, parts)

    def _reply(self, envelope: list[bytes], header: dict[str, object], parts: list[memoryview]) -> None:
        try:
            self._socket.send_multipart(
                [*envelope, json.dumps(header).encode(), *parts], zmq.DONTWAIT, copy=False
            )
        except zmq.ZMQError as error:
            LOGGER.info("a frame could not be sent: %s", error.strerror)

    # ------------------------------------------------------------ the bench's lines

    def _take_lines(self) -> bool:
        """Answers what the bench wrote; False where its end is closed."""
        chunk = os.read(0, 65_536)
        if chunk == b"":
            return False
        self._input += chunk
        while b"\n" in self._input:
            line, self._input = self._input.split(b"\n", 1)
            try:
                answer = self._obey(json.loads(line))
            except Exception as error:
                LOGGER.exception("defect in the camera process")
                answer = {"error": f"{type(error).__name__}: {error}"}
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()
        return True

    def _obey(self, order: dict[str, object]) -> dict[str, object]:
        if "model" in order:
            self._use_model(str(order["model"]), int(str(order["epoch"])))
        elif "fault" in order:
            fault = order["fault"]
            assert isinstance(fault, dict)
            self._break(Fault(**{**fault, "cameras": tuple(fault["cameras"])}))
        elif "stats" in order:
            mean_s = self._exposing_s / self._exposures if self._exposures else 0.0
            return {
                "exposures": self._exposures,
                "exposure_times_s": {name: list(times) for name, times in self._taken_s.items()},
                "exposure_mean_ms": round(mean_s * 1000, 2),
                "exposure_max_ms": round(self._worst_s * 1000, 2),
                "cpu_s": round(time.process_time(), 3),
            }
        return {"done": True}

    def _use_model(self, path: str, epoch: int) -> None:
        self._renderer.use_model(mujoco.MjModel.from_binary_path(path))
        os.unlink(path)
        self._epoch = epoch
        for channel in self._channels.values():
            channel.forget_pictures()
        # The first picture of a model costs several others: it is not made while somebody waits.
        camera = CAMERAS[-1]
        self._renderer.draw(camera.X_parent_camera, camera.depth, 640, 480, depth=True)

    def _break(self, fault: Fault) -> None:
        now_s = time.monotonic()
        for channel in self._channels.values():
            if fault.kind == "clear":
                channel.clear()
            elif channel.name in fault.cameras:
                _break_channel(channel, fault, now_s)

    def close(self) -> None:
        self._socket.close()
        self._context.term()
        self._renderer.close()
        self._render.close()


def _break_channel(channel: CameraChannel, fault: Fault, now_s: float) -> None:
    match fault.kind:
        case "freeze":
            channel.frozen_until_s = now_s + fault.seconds
        case "delay":
            channel.delay_s = fault.ms / 1000
        case "drop":
            channel.drop_share = fault.share
        case "noise":
            channel.noisy = True
            channel.forget_pictures()
        case "half_frames":
            channel.half = True
        case "stuck":
            channel.stuck = True
        case "unplug":
            channel.unplugged = True
        case "replug_other_name":
            channel.unplugged = False
            channel.other_serial = True
            channel.forget_pictures()
        case _:
            raise ValueError(f"no camera fault {fault.kind}")


def main() -> int:
    die_with_parent()
    log_to_stderr()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        os.setpriority(os.PRIO_PROCESS, 0, NICENESS)
    except OSError:
        LOGGER.info("the camera process runs at the plant's own niceness")
    config = json.loads(sys.argv[1])
    server = FramesServer(int(config["rig_seed"]), config["address"], config["render"])
    sys.stdout.write('{"ready":true}\n')
    sys.stdout.flush()
    server.run()
    server.close()
    settle_log()
    return 0


if __name__ == "__main__":
    sys.exit(main())
