"""The bench's main loop: the privileged plane, the lines on standard input, and evidence while things
move."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import time
from collections import deque
from collections.abc import Callable

import zmq
from skill2real_sim.core.events import EventBus
from skill2real_sim.core.log import LOGGER
from skill2real_sim.core.privileged_plane import PrivilegedPlane
from skill2real_sim.core.privileged_verbs import PrivilegedAnswer, PrivilegedVerbs
from skill2real_sim.core.refusal import PrivilegedRefusal
from skill2real_sim.core.reply_cache import ReplyBudget
from skill2real_sim.core.server import EXIT_ASKED, EXIT_DEFECT, drain, send
from skill2real_sim.core.sockets import MAX_RECEIVED_BYTES, SEND_HIGH_WATER
from skill2real_sim.core.station import NOTHING_LATCHED, Snapshot, Station
from skill2real_sim.wire import privileged_pb2 as pp
from skill2real_sim.worlds.base import ResetInfo
from skill2real_sim.worlds.twin.mjcf_scene import TIMESTEP_S

from .bench_world import BenchWorld
from .camera_process import CameraProcess, CameraProcessError
from .faults import BadFault, Fault, parse_fault
from .plant_loop import PlantLoop
from .plant_memory import PlantMemory
from .render_state import RenderMemory
from .scheduling import first_in_first_out

EVIDENCE_PERIOD_S = 0.05
# Below the plant's.
FIFO_PRIORITY = 5
MAX_WAIT_S = 0.5
REPLY_BUDGET_BYTES = 16 << 20


class BenchStation(Station):
    """A station that builds the next world while the present one goes on."""

    def __init__(self, world: BenchWorld, on_model: Callable[[], None]) -> None:
        super().__init__(world, EventBus(lambda _event: None))
        self._bench = world
        self._on_model = on_model

    def reset(self, task: str, seed: int, hidden_salt: str, variant: str) -> ResetInfo:
        prepared = self._bench.prepare(task, seed, hidden_salt, variant)
        info: list[ResetInfo] = []
        self._replace(lambda: info.append(self._bench.adopt(prepared)), NOTHING_LATCHED)
        self._on_model()
        return info[0]

    def restore(self, snapshot: Snapshot) -> None:
        super().restore(snapshot)
        self._on_model()


class BenchServer:
    """``socket_dir`` is a private folder; everything the bench makes is in it."""

    def __init__(
        self,
        world: BenchWorld,
        socket_dir: str,
        plant_path: str,
        token: bytes | None,
        say: Callable[[dict[str, object]], None],
    ) -> None:
        self._world = world
        self._say = say
        self._socket_dir = socket_dir
        self._ending: tuple[str, int] | None = None
        self._wake_out, self._wake_in = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self.memory = PlantMemory.create(plant_path)
        self._tell_truth()
        self._render_path = os.path.join(socket_dir, "render-state")
        self._render = RenderMemory(self._render_path, create=True)
        self.frames_address = "ipc://" + os.path.join(socket_dir, "frames")
        self._cameras = self._start_cameras()
        self.station = BenchStation(world, self._show_model)
        self.loop = PlantLoop(
            self.station, world, self.memory, self._render, lambda reason: self.end(reason, EXIT_DEFECT)
        )
        self._context = zmq.Context(io_threads=1)
        self._socket: zmq.Socket | None = None
        self._plane: PrivilegedPlane | None = None
        self._verbs = PrivilegedVerbs(self.station, lambda: self._ending is None, 1.0)
        self._verbs.table["get_resume_token"] = _no_resume_token
        self.privileged_address: str | None = None
        if token is not None:
            self._open_privileged(token)
        self._inbox: deque = deque()
        self._input = b""
        self._input_open = True
        self._next_evidence_s = 0.0
        self._was_moving = False

    def _tell_truth(self) -> None:
        rig, truth = self._world.rig, self.memory.rig_truth
        truth.staged["kinematic_deltas"] = rig.kinematic_deltas()
        truth.staged["wrench_bias"] = rig.wrench_bias
        truth.staged["wrench_noise_sigma"] = rig.wrench_noise_sigma
        truth.write()

    def _start_cameras(self) -> CameraProcess:
        return CameraProcess(
            self._world.rig.seed,
            self.frames_address,
            self._render_path,
            self._socket_dir,
            lambda reason: self.end(reason, EXIT_DEFECT),
        )

    def _open_privileged(self, token: bytes) -> None:
        socket = self._context.socket(zmq.ROUTER)
        socket.linger = 0
        socket.maxmsgsize = MAX_RECEIVED_BYTES
        socket.sndhwm = SEND_HIGH_WATER
        self.privileged_address = "ipc://" + os.path.join(self._socket_dir, "privileged")
        socket.bind(self.privileged_address)
        self._socket = socket
        self._plane = PrivilegedPlane(
            token, ReplyBudget(REPLY_BUDGET_BYTES), self._verbs, lambda e, p: send(socket, e, p)
        )

    def _show_model(self) -> None:
        if self._cameras.alive:
            self._cameras.use_model(self._world.simulation.model, self._world.model_epoch)
        gc.collect()

    def load(self, task: str, seed: int, variant: str) -> None:
        """The scene before anybody resets it. Raises BadArgument."""
        self.station.reset(task, seed, "", variant)

    def start(self) -> None:
        """Starts the plant."""
        gc.collect()
        gc.freeze()
        # A full collection would stop the plant for milliseconds: it happens at resets only.
        gc.disable()
        self.loop.start()

    def end(self, reason: str, code: int) -> None:
        """Asks the loop to end, from any thread or signal handler. The first call counts."""
        if self._ending is None:
            self._ending = (reason, code)
        with contextlib.suppress(BlockingIOError):
            os.write(self._wake_in, b"!")

    # ------------------------------------------------------------ loop

    def run(self) -> int:
        """Serves until told to end or until standard input ends; returns the exit code."""
        # What this thread holds (interpreter, world), the plant may have to wait for: nobody else may keep it
        # from letting go.
        first_in_first_out(FIFO_PRIORITY)
        poller = zmq.Poller()
        if self._socket is not None:
            poller.register(self._socket, zmq.POLLIN)
        poller.register(0, zmq.POLLIN)
        poller.register(self._wake_out, zmq.POLLIN)
        while self._ending is None:
            events = dict(poller.poll(self._wait_ms(time.monotonic())))
            if 0 in events and self._ending is None:
                self._take_lines()
            if self._plane is not None and self._socket is not None:
                drain(self._socket, self._plane, self._inbox)
                while self._inbox:
                    plane, arrival = self._inbox.popleft()
                    plane.handle(arrival, time.monotonic())
                self._plane.serve_due(time.monotonic())
            self._record(time.monotonic())
        return self._finish(*self._ending)

    def _wait_ms(self, now_s: float) -> float:
        wait_s = MAX_WAIT_S if self.station.evidence is None else EVIDENCE_PERIOD_S / 2
        due = self._plane.next_due() if self._plane is not None else None
        if due is not None:
            wait_s = min(wait_s, due - now_s)
        return max(0.0, wait_s) * 1000 + 0.5

    def _record(self, now_s: float) -> None:
        """Evidence at the beginning, every 50 ms during and at the end of every stretch of motion."""
        if self.station.evidence is None or now_s < self._next_evidence_s:
            return
        self._next_evidence_s = now_s + EVIDENCE_PERIOD_S
        moving, was = self._world.simulation.moving, self._was_moving
        self._was_moving = moving
        if not moving and not was:
            return
        moment = "during" if moving and was else "start" if moving else "end"
        with self.station.lock.ordinary():
            if self.station.evidence is not None:
                self.station.evidence.write(self._world, moment, [])

    # ------------------------------------------------------------ lines

    def _take_lines(self) -> None:
        chunk = os.read(0, 65_536)
        if chunk == b"":
            self.end("standard input ended", EXIT_ASKED)
            return
        self._input += chunk
        while b"\n" in self._input:
            line, self._input = self._input.split(b"\n", 1)
            if line.strip():
                self._say(self._obey(line.decode(errors="replace")))

    def _obey(self, line: str) -> dict[str, object]:
        try:
            fault = parse_fault(line)
            if fault.kind == "stats":
                return {"stats": self.stats()}
            self._break(fault)
        except (BadFault, CameraProcessError) as error:
            return {"error": str(error)}
        return {"done": fault.kind}

    def _break(self, fault: Fault) -> None:
        if fault.kind == "clear":
            self.loop.freeze(0.0)
            if not self._cameras.alive:
                self._cameras = self._start_cameras()
                self._show_model()
            self._cameras.fault(fault)
        elif fault.kind == "freeze" and not fault.cameras:
            self.loop.freeze(fault.seconds)
        elif fault.kind == "kill" and not fault.cameras:
            LOGGER.warning("killed by a fault line")
            os.kill(os.getpid(), signal.SIGKILL)
        elif fault.kind == "kill":
            self._cameras.kill()
        else:
            self._cameras.fault(fault)

    def stats(self) -> dict[str, object]:
        simulation = self._world.simulation
        return {
            "plant": {
                **self.loop.timing.report(TIMESTEP_S),
                "scheduler": self.loop.realtime,
                "refused_arm_commands": simulation.follower.refused,
                "refused_gripper_commands": simulation.refused_gripper,
            },
            "cameras": self._cameras.stats() if self._cameras.alive else None,
        }

    # ------------------------------------------------------------ end

    def _finish(self, reason: str, code: int) -> int:
        LOGGER.info("ending: %s; plant %s", reason, json.dumps(self.loop.timing.report(TIMESTEP_S)))
        self.loop.close()
        self._verbs.close()
        self._cameras.close()
        if self._socket is not None:
            self._socket.close(linger=100)
        self._context.term()
        self._world.close()
        self._render.close()
        self.memory.close()
        return code


def _no_resume_token(_request: pp.PrivilegedRequest, _deadline: float) -> PrivilegedAnswer:
    raise PrivilegedRefusal(
        pp.PRIVILEGED_BAD_ARGUMENT,
        "a bench latches no stop: the token comes from the arm's own recovery",
    )
