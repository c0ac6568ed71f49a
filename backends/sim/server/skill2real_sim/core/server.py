"""The server: a loop over the device and privileged sockets, beside the threads of stops and wall clock."""

from __future__ import annotations

import contextlib
import gc
import os
import time
from collections import deque

import zmq

from skill2real_sim.core.bootstrap import StartOptions
from skill2real_sim.core.device_plane import Arrival, DevicePlane
from skill2real_sim.core.device_verbs import DeviceVerbs
from skill2real_sim.core.events import EventBus
from skill2real_sim.core.log import LOGGER, printable
from skill2real_sim.core.privileged_plane import PrivilegedPlane
from skill2real_sim.core.privileged_verbs import PrivilegedVerbs
from skill2real_sim.core.reply_cache import Parts, ReplyBudget
from skill2real_sim.core.sessions import Sessions
from skill2real_sim.core.sockets import Sockets
from skill2real_sim.core.station import Station
from skill2real_sim.core.stop_plane import StopPlane
from skill2real_sim.core.wall_clock import WallClock
from skill2real_sim.wire import device_pb2 as dp
from skill2real_sim.worlds.base import World

EXIT_ASKED = 0
EXIT_DEFECT = 1
EXIT_LEASE_LAPSED = 3
# What kept replies may hold alive in one process, pixels included.
REPLY_BUDGET_BYTES = 256 << 20
# Parts from this size on are sent without copying; below, the bookkeeping costs more than the copy.
ZERO_COPY_BYTES = 65_536
# An overdue controller gets this long for a request of its own that waits behind others' in the queue.
LAPSE_GRACE_S = 0.1
HOLD_BEFORE_EXIT_S = 0.3
MAX_WAIT_S = 0.5
# How long the loop waits for the next device request alone, once it answered one.
LINGER_MS = 2
# Messages taken from the sockets and not yet begun; more stay with libzmq.
MAX_INBOX = 256


class Server:
    def __init__(self, world: World, options: StartOptions, sockets: Sockets) -> None:
        self._world = world
        self._options = options
        self._sockets = sockets
        rate = options.realtime
        self.station = Station(world, EventBus(self._publish))
        budget = ReplyBudget(REPLY_BUDGET_BYTES)
        self._sessions = Sessions(budget)
        verbs = DeviceVerbs(self.station, self._sessions, self._breathe, rate)
        verbs.capabilities()  # a world that cannot say what it is must not start
        self._device = DevicePlane(self._sessions, budget, verbs, lambda e, p: send(sockets.device, e, p))
        self._privileged: PrivilegedPlane | None = None
        self._privileged_verbs = PrivilegedVerbs(self.station, self._breathe, rate)
        if options.privileged_token is not None:
            self._privileged = PrivilegedPlane(
                options.privileged_token,
                budget,
                self._privileged_verbs,
                lambda e, p: send(sockets.privileged, e, p),
            )
        self._stop_plane = StopPlane(sockets.stop, self.station)
        self._wall = (
            WallClock(self.station, rate, lambda reason: self.end(reason, EXIT_DEFECT)) if rate else None
        )
        self._inbox: deque[tuple[DevicePlane | PrivilegedPlane, Arrival]] = deque()
        self._overdue_since: float | None = None
        self._ending: tuple[str, int] | None = None
        self._wake_out, self._wake_in = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def end(self, reason: str, code: int) -> None:
        """Asks the loop to stop the arm and end, from any thread or signal handler. The first call counts."""
        if self._ending is None:
            self._ending = (reason, code)
        with contextlib.suppress(BlockingIOError):
            os.write(self._wake_in, b"!")

    def run(self) -> int:
        """Serves until told to end; returns the process's exit code."""
        # What lives until the end need not be looked at again: the collector's pauses would be latency.
        gc.collect()
        gc.freeze()
        self._stop_plane.start()
        if self._wall is not None:
            self._wall.start()
        poller = zmq.Poller()
        poller.register(self._sockets.device, zmq.POLLIN)
        if self._sockets.privileged is not None:
            poller.register(self._sockets.privileged, zmq.POLLIN)
        poller.register(self._wake_out, zmq.POLLIN)
        self._sockets.device.rcvtimeo = LINGER_MS
        lingers = False
        while self._ending is None:
            # Who was just answered mostly asks again at once, and one socket wakes sooner than a poll of all.
            if not self._inbox and not (lingers and take(self._sockets.device, 0, self._device, self._inbox)):
                poller.poll(self._wait_ms(time.monotonic()))
            self._take_in()
            lingers = False
            if self._inbox:
                plane, arrival = self._inbox.popleft()
                plane.handle(arrival, time.monotonic())
                lingers = plane is self._device
            self._serve_clocks(time.monotonic())
        return self._finish(*self._ending)

    # ------------------------------------------------------------ arrivals

    def _take_in(self) -> None:
        """Moves what arrived into the inbox: so it bears its time of receipt also behind a long Advance."""
        if len(self._inbox) < MAX_INBOX:
            drain(self._sockets.device, self._device, self._inbox)
            if self._privileged is not None:
                drain(self._sockets.privileged, self._privileged, self._inbox)

    def _breathe(self) -> bool:
        self._take_in()
        return self._ending is None

    # ------------------------------------------------------------ clocks

    def _wait_ms(self, now: float) -> float:
        dues = [
            self._device.next_due(),
            self._privileged.next_due() if self._privileged is not None else None,
        ]
        wait_s = min([due - now for due in dues if due is not None], default=MAX_WAIT_S)
        lease_s = self._sessions.lease_left_s(now)
        if lease_s is not None:
            # Overdue: look again soon, while its grace lasts.
            wait_s = min(wait_s, lease_s if lease_s > 0 else 0.01)
        return max(0.0, min(wait_s, MAX_WAIT_S)) * 1000 + 0.5

    def _serve_clocks(self, now: float) -> None:
        self._device.serve_due(now)
        if self._privileged is not None:
            self._privileged.serve_due(now)
        left_s = self._sessions.lease_left_s(now)
        if left_s is None or left_s > 0:
            self._overdue_since = None
        elif self._overdue_since is None:
            self._overdue_since = now
        elif now - self._overdue_since >= LAPSE_GRACE_S or not self._inbox:
            self._overdue_since = None
            self._lapse()

    def _lapse(self) -> None:
        client = printable(self._sessions.lapse())
        LOGGER.warning("lease lapsed: nothing came from the controller %s", client)
        self.station.stop("lease lapsed")
        message = "the controller fell silent and the arm was stopped; see whether it runs, then Resume"
        self.station.events.publish(
            self.station.time_s, "fault", dp.Fault(code="lease_lapsed", message=message)
        )
        if self._options.exit_on_lease_lapse:
            time.sleep(HOLD_BEFORE_EXIT_S)
            self.end("lease lapsed", EXIT_LEASE_LAPSED)

    # ------------------------------------------------------------ end

    def _finish(self, reason: str, code: int) -> int:
        LOGGER.info("ending: %s", reason)
        if self.station.moving and not self.station.latch.state.latched:
            try:
                self.station.stop(reason)
            except Exception:
                LOGGER.exception("defect of the world while stopping at the end")
        self.station.events.publish(self.station.time_s, "ending", dp.Ending(reason=reason))
        self._stop_plane.close()
        if self._wall is not None:
            self._wall.close()
        self._privileged_verbs.close()
        sockets = self._sockets
        for socket in (sockets.device, sockets.privileged, sockets.events):
            if socket is not None:
                socket.close(linger=100)
        if sockets.authenticator is not None:
            sockets.authenticator.stop()
        sockets.context.term()
        self._world.close()
        return code

    def _publish(self, event: bytes) -> None:
        self._sockets.events.send(event, zmq.DONTWAIT)


def drain(socket: zmq.Socket, plane: DevicePlane | PrivilegedPlane, inbox: deque) -> None:
    # getsockopt, because pyzmq's attributes and a thrown Again each cost more than taking the message.
    while len(inbox) < MAX_INBOX and socket.getsockopt(zmq.EVENTS) & zmq.POLLIN:
        if not take(socket, zmq.DONTWAIT, plane, inbox):  # its sender vanished in between
            return


def take(socket: zmq.Socket, flags: int, plane: DevicePlane | PrivilegedPlane, inbox: deque) -> bool:
    """Moves one message into the inbox; False where none comes in the socket's time, or now with DONTWAIT."""
    try:
        envelope = socket.recv(flags)
    except zmq.Again:
        return False
    part, parts, largest = b"", 0, 0
    while socket.getsockopt(zmq.RCVMORE):
        part = socket.recv()
        parts += 1
        largest = max(largest, len(part))
    inbox.append((plane, Arrival(envelope, part, parts, largest, time.monotonic())))
    return True


def send(socket: zmq.Socket, envelope: bytes, parts: Parts) -> None:
    try:
        socket.send(envelope, zmq.SNDMORE | zmq.DONTWAIT)
        last = len(parts) - 1
        for index, part in enumerate(parts):
            flags = zmq.DONTWAIT | (zmq.SNDMORE if index < last else 0)
            socket.send(part, flags, copy=len(part) < ZERO_COPY_BYTES)
    except zmq.ZMQError as error:
        # The client is gone or reads nothing; it may ask again by the same id.
        LOGGER.info("a reply could not be sent: %s", error.strerror)
