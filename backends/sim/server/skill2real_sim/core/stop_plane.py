"""The stop plane: a thread that owns the stop socket and waits for nothing else."""

from __future__ import annotations

import threading

import zmq
from google.protobuf.message import DecodeError

from skill2real_sim.core.log import LOGGER, printable
from skill2real_sim.core.station import Station
from skill2real_sim.core.thread_priority import prefer_this_thread
from skill2real_sim.wire import device_pb2 as dp

CLOSING_LOOK_MS = 200


class StopPlane:
    """Whatever arrives on the stop socket is a stop, also what cannot be read: the safe way to err."""

    def __init__(self, socket: zmq.Socket, station: Station) -> None:
        self._socket = socket
        self._socket.rcvtimeo = CLOSING_LOOK_MS
        self._station = station
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="stop", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        self._thread.join()

    def _serve(self) -> None:
        prefer_this_thread()
        while not self._closing.is_set():
            try:
                envelope = self._socket.recv()
            except zmq.Again:
                continue
            part = b""
            while self._socket.rcvmore:
                part = self._socket.recv()
            try:
                self._socket.send_multipart([envelope, self._stop(part).SerializeToString()], zmq.DONTWAIT)
            except Exception:
                LOGGER.exception("defect while serving a stop")
        self._socket.close(linger=100)

    def _stop(self, part: bytes) -> dp.StopReply:
        try:
            reason = printable(dp.StopRequest.FromString(part).reason) or "stop requested"
        except DecodeError:
            reason = "stop requested, in bytes that could not be read"
        try:
            epoch, time_s = self._station.stop(reason)
        except Exception:
            # The latch is set before the world is touched, so the epoch in the reply is true.
            LOGGER.exception("defect of the world while stopping")
            epoch, time_s = self._station.latch.state.epoch, self._station.time_s
        return dp.StopReply(stop_epoch=epoch, time_s=time_s)
