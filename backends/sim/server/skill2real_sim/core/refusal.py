"""The way a verb says no: a code of the protocol, and words that name the value, the limit and the mend."""

from __future__ import annotations

from skill2real_sim.wire import device_pb2 as dp
from skill2real_sim.wire import privileged_pb2 as pp


class Refusal(Exception):  # noqa: N818 - it is an answer, not a defect
    """Nothing was done; ``code`` is an ErrorCode of the device protocol."""

    def __init__(self, code: dp.ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class PrivilegedRefusal(Exception):  # noqa: N818 - it is an answer, not a defect
    """Nothing was done; ``code`` is a PrivilegedErrorCode."""

    def __init__(self, code: pp.PrivilegedErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
