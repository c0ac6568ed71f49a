"""Opens and binds the server's sockets, with their limits and, between machines, their keys."""

from __future__ import annotations

import os
from dataclasses import dataclass

import zmq
from zmq.auth.thread import ThreadAuthenticator

from skill2real_sim.core.bootstrap import CurveKeys, StartError, StartOptions

# A part above the protocol's 1 MiB still gets its refusal up to here; beyond, libzmq drops the connection.
MAX_RECEIVED_BYTES = 16 << 20
# Messages waiting for one client that does not read. Beyond, its replies are dropped; it may ask again by id.
# libzmq gives room back in halves, so half of this is always there: what a session keeps (256 replies).
SEND_HIGH_WATER = 512


@dataclass
class Sockets:
    context: zmq.Context
    device: zmq.Socket
    stop: zmq.Socket
    events: zmq.Socket
    privileged: zmq.Socket | None
    addresses: dict[str, str]
    authenticator: ThreadAuthenticator | None


class _ClientKeys:
    """Answers libzmq whether a client's public key may connect."""

    def __init__(self, keys: CurveKeys) -> None:
        self._allowed = {key.encode() for key in keys.client_keys}

    def callback(self, _domain: str, z85_key: bytes) -> bool:
        return z85_key in self._allowed


def open_sockets(options: StartOptions) -> Sockets:
    """Raises StartError where an address cannot be bound."""
    context = zmq.Context(io_threads=1)
    authenticator = None
    if options.curve is not None:
        authenticator = ThreadAuthenticator(context)
        authenticator.start()
        authenticator.configure_curve_callback("*", _ClientKeys(options.curve))
    names = ["device", "stop", "events"] + (["privileged"] if options.privileged_token is not None else [])
    opened: dict[str, zmq.Socket] = {}
    addresses: dict[str, str] = {}
    for name in names:
        socket = context.socket(zmq.PUB if name == "events" else zmq.ROUTER)
        socket.linger = 0
        socket.maxmsgsize = MAX_RECEIVED_BYTES
        if name != "events":
            socket.sndhwm = SEND_HIGH_WATER
        address = (options.bind or {}).get(name, "ipc://" + os.path.join(options.socket_dir, name))
        if options.curve is not None and address.startswith("tcp://"):
            socket.curve_server = True
            socket.curve_publickey = options.curve.public_key.encode()
            socket.curve_secretkey = options.curve.secret_key.encode()
        try:
            socket.bind(address)
        except zmq.ZMQError as error:
            raise StartError(f"cannot bind {name} to {address}: {error.strerror}") from None
        opened[name] = socket
        addresses[name] = socket.last_endpoint.decode().rstrip("\0")
    return Sockets(
        context=context,
        device=opened["device"],
        stop=opened["stop"],
        events=opened["events"],
        privileged=opened.get("privileged"),
        addresses=addresses,
        authenticator=authenticator,
    )
