"""Start-up options: one JSON line on an inherited descriptor; secrets go into neither arguments nor files."""

from __future__ import annotations

import json
import math
import os
import stat
from dataclasses import dataclass

CONFIG_FD = 3
MAX_CONFIG_BYTES = 65_536
MAX_RATE = 100.0
SOCKETS = ("device", "stop", "events", "privileged")
# sun_path holds 108 bytes with its terminator.
MAX_IPC_PATH_BYTES = 107


class StartError(Exception):
    """The process cannot start as told; the message says why."""


@dataclass(frozen=True)
class CurveKeys:
    public_key: str  # Z85, 40 characters, as are the others
    secret_key: str
    client_keys: tuple[str, ...]


@dataclass(frozen=True)
class StartOptions:
    socket_dir: str
    privileged_token: bytes | None
    realtime: float
    exit_on_lease_lapse: bool
    curve: CurveKeys | None
    bind: dict[str, str] | None


def read_config_line(fd: int) -> dict[str, object]:
    """Reads up to the first newline and leaves the descriptor open. Raises StartError."""
    data = b""
    while b"\n" not in data:
        chunk = os.read(fd, 1 if len(data) >= MAX_CONFIG_BYTES else 4096)
        if chunk == b"":
            raise StartError(f"descriptor {fd} ended before one whole line of JSON came")
        data += chunk
        if len(data) > MAX_CONFIG_BYTES:
            raise StartError(f"the options on descriptor {fd} exceed {MAX_CONFIG_BYTES} bytes")
    try:
        config = json.loads(data[: data.index(b"\n")])
    except ValueError:
        # The line is not quoted: it may hold a secret.
        raise StartError(f"the line on descriptor {fd} is not JSON") from None
    if not isinstance(config, dict):
        raise StartError(f"the line on descriptor {fd} is not a JSON object")
    return config


def options_from(config: dict[str, object]) -> StartOptions:
    """Raises StartError for a missing, unknown or wrong value."""
    known = ("socket_dir", "privileged_token_hex", "realtime", "exit_on_lease_lapse", "curve", "bind")
    for key in config:
        if key not in known:
            raise StartError(f"unknown start option {key!r}; known are {', '.join(known)}")
    socket_dir = config.get("socket_dir")
    if not isinstance(socket_dir, str):
        raise StartError("socket_dir must be the path of a private folder")
    check_socket_dir(socket_dir)
    lapse = config.get("exit_on_lease_lapse", False)
    if not isinstance(lapse, bool):
        raise StartError("exit_on_lease_lapse must be true or false")
    curve = _curve(config.get("curve"))
    return StartOptions(
        socket_dir=socket_dir,
        privileged_token=_token(config.get("privileged_token_hex")),
        realtime=check_rate(config.get("realtime", 0)),
        exit_on_lease_lapse=lapse,
        curve=curve,
        bind=_bind(config.get("bind"), curve),
    )


def check_socket_dir(path: str) -> None:
    """The folder must be ours and closed to others, since whoever reaches a socket may speak to it."""
    if not os.path.isabs(path):
        raise StartError(f"socket_dir {path!r} is not absolute")
    try:
        status = os.lstat(path)
    except OSError as error:
        raise StartError(f"socket_dir {path!r}: {error.strerror}") from None
    if not stat.S_ISDIR(status.st_mode):
        raise StartError(f"socket_dir {path!r} is not a folder")
    if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
        raise StartError(f"socket_dir {path!r} must belong to this user with mode 0700")
    longest = len(os.fsencode(os.path.join(path, max(SOCKETS, key=len))))
    if longest > MAX_IPC_PATH_BYTES:
        raise StartError(
            f"socket_dir {path!r} makes socket paths of {longest} bytes; at most {MAX_IPC_PATH_BYTES}"
        )


def check_rate(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise StartError(f"realtime is {value!r}; give 0 (simulated clock) or device seconds per second")
    if value != 0 and not 0.01 <= value <= MAX_RATE:
        raise StartError(f"realtime is {value!r}; give 0 (simulated clock) or 0.01 to {MAX_RATE:g}")
    return float(value)


def _token(value: object) -> bytes | None:
    if value is None:
        return None
    try:
        token = bytes.fromhex(value) if isinstance(value, str) and len(value) == 64 else b""
    except ValueError:
        token = b""
    if len(token) != 32:
        raise StartError(
            "privileged_token_hex must be 64 hexadecimal digits, or null for no privileged plane"
        )
    return token


def _curve(value: object) -> CurveKeys | None:
    if value is None:
        return None
    if not isinstance(value, dict) or set(value) != {"public_key", "secret_key", "client_keys"}:
        raise StartError("curve must be null or hold public_key, secret_key and client_keys")
    clients = value["client_keys"]
    if not isinstance(clients, list) or not clients:
        raise StartError("curve.client_keys must list the keys that may connect")
    for key in (value["public_key"], value["secret_key"], *clients):
        if not isinstance(key, str) or len(key) != 40:
            raise StartError("every CURVE key must be 40 characters of Z85")
    return CurveKeys(value["public_key"], value["secret_key"], tuple(clients))


def _bind(value: object, curve: CurveKeys | None) -> dict[str, str] | None:
    if value is None:
        return None
    if not isinstance(value, dict) or not value or not set(value) <= set(SOCKETS):
        raise StartError(f"bind must be null or map some of {', '.join(SOCKETS)} to addresses")
    for name, address in value.items():
        if not isinstance(address, str) or not address.startswith(("tcp://", "ipc://")):
            raise StartError(f"bind.{name} must be a tcp:// or ipc:// address")
        loopback = address.startswith(("tcp://127.", "tcp://[::1]", "ipc://"))
        if not loopback and curve is None:
            raise StartError(f"bind.{name} is {address!r}: addresses beyond this machine need curve keys")
    return dict(value)
