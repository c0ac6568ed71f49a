from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PrivilegedErrorCode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PRIVILEGED_ERROR_UNSPECIFIED: _ClassVar[PrivilegedErrorCode]
    PRIVILEGED_MALFORMED: _ClassVar[PrivilegedErrorCode]
    PRIVILEGED_TOO_LARGE: _ClassVar[PrivilegedErrorCode]
    PRIVILEGED_PROTOCOL_VERSION: _ClassVar[PrivilegedErrorCode]
    PRIVILEGED_TOKEN: _ClassVar[PrivilegedErrorCode]
    PRIVILEGED_DUPLICATE_ID: _ClassVar[PrivilegedErrorCode]
    PRIVILEGED_BAD_ARGUMENT: _ClassVar[PrivilegedErrorCode]
    PRIVILEGED_NOT_READY: _ClassVar[PrivilegedErrorCode]
    PRIVILEGED_INTERNAL: _ClassVar[PrivilegedErrorCode]
    PRIVILEGED_DEADLINE: _ClassVar[PrivilegedErrorCode]
    PRIVILEGED_EXPIRED_ID: _ClassVar[PrivilegedErrorCode]
PRIVILEGED_ERROR_UNSPECIFIED: PrivilegedErrorCode
PRIVILEGED_MALFORMED: PrivilegedErrorCode
PRIVILEGED_TOO_LARGE: PrivilegedErrorCode
PRIVILEGED_PROTOCOL_VERSION: PrivilegedErrorCode
PRIVILEGED_TOKEN: PrivilegedErrorCode
PRIVILEGED_DUPLICATE_ID: PrivilegedErrorCode
PRIVILEGED_BAD_ARGUMENT: PrivilegedErrorCode
PRIVILEGED_NOT_READY: PrivilegedErrorCode
PRIVILEGED_INTERNAL: PrivilegedErrorCode
PRIVILEGED_DEADLINE: PrivilegedErrorCode
PRIVILEGED_EXPIRED_ID: PrivilegedErrorCode

class PrivilegedRequest(_message.Message):
    __slots__ = ("protocol_major", "request_id", "token", "deadline_ms", "reset", "evaluate", "get_true_state", "snapshot", "restore", "set_evidence_log", "mark_evidence", "get_resume_token", "get_state_hash", "settle")
    PROTOCOL_MAJOR_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_MS_FIELD_NUMBER: _ClassVar[int]
    RESET_FIELD_NUMBER: _ClassVar[int]
    EVALUATE_FIELD_NUMBER: _ClassVar[int]
    GET_TRUE_STATE_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    RESTORE_FIELD_NUMBER: _ClassVar[int]
    SET_EVIDENCE_LOG_FIELD_NUMBER: _ClassVar[int]
    MARK_EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    GET_RESUME_TOKEN_FIELD_NUMBER: _ClassVar[int]
    GET_STATE_HASH_FIELD_NUMBER: _ClassVar[int]
    SETTLE_FIELD_NUMBER: _ClassVar[int]
    protocol_major: int
    request_id: str
    token: bytes
    deadline_ms: int
    reset: Reset
    evaluate: Evaluate
    get_true_state: GetTrueState
    snapshot: Snapshot
    restore: Restore
    set_evidence_log: SetEvidenceLog
    mark_evidence: MarkEvidence
    get_resume_token: GetResumeToken
    get_state_hash: GetStateHash
    settle: Settle
    def __init__(self, protocol_major: _Optional[int] = ..., request_id: _Optional[str] = ..., token: _Optional[bytes] = ..., deadline_ms: _Optional[int] = ..., reset: _Optional[_Union[Reset, _Mapping]] = ..., evaluate: _Optional[_Union[Evaluate, _Mapping]] = ..., get_true_state: _Optional[_Union[GetTrueState, _Mapping]] = ..., snapshot: _Optional[_Union[Snapshot, _Mapping]] = ..., restore: _Optional[_Union[Restore, _Mapping]] = ..., set_evidence_log: _Optional[_Union[SetEvidenceLog, _Mapping]] = ..., mark_evidence: _Optional[_Union[MarkEvidence, _Mapping]] = ..., get_resume_token: _Optional[_Union[GetResumeToken, _Mapping]] = ..., get_state_hash: _Optional[_Union[GetStateHash, _Mapping]] = ..., settle: _Optional[_Union[Settle, _Mapping]] = ...) -> None: ...

class PrivilegedReply(_message.Message):
    __slots__ = ("protocol_major", "request_id", "error", "raw_parts", "reset", "evaluate", "true_state", "snapshot", "restore", "set_evidence_log", "mark_evidence", "resume_token", "state_hash", "settle")
    PROTOCOL_MAJOR_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    RAW_PARTS_FIELD_NUMBER: _ClassVar[int]
    RESET_FIELD_NUMBER: _ClassVar[int]
    EVALUATE_FIELD_NUMBER: _ClassVar[int]
    TRUE_STATE_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    RESTORE_FIELD_NUMBER: _ClassVar[int]
    SET_EVIDENCE_LOG_FIELD_NUMBER: _ClassVar[int]
    MARK_EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    RESUME_TOKEN_FIELD_NUMBER: _ClassVar[int]
    STATE_HASH_FIELD_NUMBER: _ClassVar[int]
    SETTLE_FIELD_NUMBER: _ClassVar[int]
    protocol_major: int
    request_id: str
    error: PrivilegedError
    raw_parts: int
    reset: ResetReply
    evaluate: EvaluateReply
    true_state: TrueStateReply
    snapshot: SnapshotReply
    restore: RestoreReply
    set_evidence_log: SetEvidenceLogReply
    mark_evidence: MarkEvidenceReply
    resume_token: ResumeTokenReply
    state_hash: StateHashReply
    settle: SettleReply
    def __init__(self, protocol_major: _Optional[int] = ..., request_id: _Optional[str] = ..., error: _Optional[_Union[PrivilegedError, _Mapping]] = ..., raw_parts: _Optional[int] = ..., reset: _Optional[_Union[ResetReply, _Mapping]] = ..., evaluate: _Optional[_Union[EvaluateReply, _Mapping]] = ..., true_state: _Optional[_Union[TrueStateReply, _Mapping]] = ..., snapshot: _Optional[_Union[SnapshotReply, _Mapping]] = ..., restore: _Optional[_Union[RestoreReply, _Mapping]] = ..., set_evidence_log: _Optional[_Union[SetEvidenceLogReply, _Mapping]] = ..., mark_evidence: _Optional[_Union[MarkEvidenceReply, _Mapping]] = ..., resume_token: _Optional[_Union[ResumeTokenReply, _Mapping]] = ..., state_hash: _Optional[_Union[StateHashReply, _Mapping]] = ..., settle: _Optional[_Union[SettleReply, _Mapping]] = ...) -> None: ...

class PrivilegedError(_message.Message):
    __slots__ = ("code", "message")
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    code: PrivilegedErrorCode
    message: str
    def __init__(self, code: _Optional[_Union[PrivilegedErrorCode, str]] = ..., message: _Optional[str] = ...) -> None: ...

class Reset(_message.Message):
    __slots__ = ("task", "seed", "hidden_salt", "variant")
    TASK_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    HIDDEN_SALT_FIELD_NUMBER: _ClassVar[int]
    VARIANT_FIELD_NUMBER: _ClassVar[int]
    task: str
    seed: int
    hidden_salt: str
    variant: str
    def __init__(self, task: _Optional[str] = ..., seed: _Optional[int] = ..., hidden_salt: _Optional[str] = ..., variant: _Optional[str] = ...) -> None: ...

class ResetReply(_message.Message):
    __slots__ = ("instruction", "world_epoch", "state_hash", "rejected_draws", "rejected_reasons", "details_json")
    class RejectedReasonsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    INSTRUCTION_FIELD_NUMBER: _ClassVar[int]
    WORLD_EPOCH_FIELD_NUMBER: _ClassVar[int]
    STATE_HASH_FIELD_NUMBER: _ClassVar[int]
    REJECTED_DRAWS_FIELD_NUMBER: _ClassVar[int]
    REJECTED_REASONS_FIELD_NUMBER: _ClassVar[int]
    DETAILS_JSON_FIELD_NUMBER: _ClassVar[int]
    instruction: str
    world_epoch: int
    state_hash: str
    rejected_draws: int
    rejected_reasons: _containers.ScalarMap[str, str]
    details_json: str
    def __init__(self, instruction: _Optional[str] = ..., world_epoch: _Optional[int] = ..., state_hash: _Optional[str] = ..., rejected_draws: _Optional[int] = ..., rejected_reasons: _Optional[_Mapping[str, str]] = ..., details_json: _Optional[str] = ...) -> None: ...

class Evaluate(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Predicate(_message.Message):
    __slots__ = ("name", "holds", "measure", "unit", "limit")
    NAME_FIELD_NUMBER: _ClassVar[int]
    HOLDS_FIELD_NUMBER: _ClassVar[int]
    MEASURE_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    name: str
    holds: bool
    measure: float
    unit: str
    limit: float
    def __init__(self, name: _Optional[str] = ..., holds: _Optional[bool] = ..., measure: _Optional[float] = ..., unit: _Optional[str] = ..., limit: _Optional[float] = ...) -> None: ...

class EvaluateReply(_message.Message):
    __slots__ = ("success", "predicates", "failure_kind")
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    PREDICATES_FIELD_NUMBER: _ClassVar[int]
    FAILURE_KIND_FIELD_NUMBER: _ClassVar[int]
    success: bool
    predicates: _containers.RepeatedCompositeFieldContainer[Predicate]
    failure_kind: str
    def __init__(self, success: _Optional[bool] = ..., predicates: _Optional[_Iterable[_Union[Predicate, _Mapping]]] = ..., failure_kind: _Optional[str] = ...) -> None: ...

class GetTrueState(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class TrueBody(_message.Message):
    __slots__ = ("name", "kind", "colour", "X_world_body", "size_m", "mass_kg", "role")
    NAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    COLOUR_FIELD_NUMBER: _ClassVar[int]
    X_WORLD_BODY_FIELD_NUMBER: _ClassVar[int]
    SIZE_M_FIELD_NUMBER: _ClassVar[int]
    MASS_KG_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    name: str
    kind: str
    colour: str
    X_world_body: _containers.RepeatedScalarFieldContainer[float]
    size_m: _containers.RepeatedScalarFieldContainer[float]
    mass_kg: float
    role: str
    def __init__(self, name: _Optional[str] = ..., kind: _Optional[str] = ..., colour: _Optional[str] = ..., X_world_body: _Optional[_Iterable[float]] = ..., size_m: _Optional[_Iterable[float]] = ..., mass_kg: _Optional[float] = ..., role: _Optional[str] = ...) -> None: ...

class TrueStateReply(_message.Message):
    __slots__ = ("time_s", "bodies", "q_rad", "opening_m", "contacts")
    TIME_S_FIELD_NUMBER: _ClassVar[int]
    BODIES_FIELD_NUMBER: _ClassVar[int]
    Q_RAD_FIELD_NUMBER: _ClassVar[int]
    OPENING_M_FIELD_NUMBER: _ClassVar[int]
    CONTACTS_FIELD_NUMBER: _ClassVar[int]
    time_s: float
    bodies: _containers.RepeatedCompositeFieldContainer[TrueBody]
    q_rad: _containers.RepeatedScalarFieldContainer[float]
    opening_m: float
    contacts: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, time_s: _Optional[float] = ..., bodies: _Optional[_Iterable[_Union[TrueBody, _Mapping]]] = ..., q_rad: _Optional[_Iterable[float]] = ..., opening_m: _Optional[float] = ..., contacts: _Optional[_Iterable[str]] = ...) -> None: ...

class Snapshot(_message.Message):
    __slots__ = ("path",)
    PATH_FIELD_NUMBER: _ClassVar[int]
    path: str
    def __init__(self, path: _Optional[str] = ...) -> None: ...

class SnapshotReply(_message.Message):
    __slots__ = ("id", "state_hash", "stop_latched")
    ID_FIELD_NUMBER: _ClassVar[int]
    STATE_HASH_FIELD_NUMBER: _ClassVar[int]
    STOP_LATCHED_FIELD_NUMBER: _ClassVar[int]
    id: str
    state_hash: str
    stop_latched: bool
    def __init__(self, id: _Optional[str] = ..., state_hash: _Optional[str] = ..., stop_latched: _Optional[bool] = ...) -> None: ...

class Restore(_message.Message):
    __slots__ = ("id", "path")
    ID_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    id: str
    path: str
    def __init__(self, id: _Optional[str] = ..., path: _Optional[str] = ...) -> None: ...

class RestoreReply(_message.Message):
    __slots__ = ("world_epoch", "state_hash")
    WORLD_EPOCH_FIELD_NUMBER: _ClassVar[int]
    STATE_HASH_FIELD_NUMBER: _ClassVar[int]
    world_epoch: int
    state_hash: str
    def __init__(self, world_epoch: _Optional[int] = ..., state_hash: _Optional[str] = ...) -> None: ...

class SetEvidenceLog(_message.Message):
    __slots__ = ("path",)
    PATH_FIELD_NUMBER: _ClassVar[int]
    path: str
    def __init__(self, path: _Optional[str] = ...) -> None: ...

class SetEvidenceLogReply(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class MarkEvidence(_message.Message):
    __slots__ = ("label",)
    LABEL_FIELD_NUMBER: _ClassVar[int]
    label: str
    def __init__(self, label: _Optional[str] = ...) -> None: ...

class MarkEvidenceReply(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetResumeToken(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ResumeTokenReply(_message.Message):
    __slots__ = ("token",)
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    token: str
    def __init__(self, token: _Optional[str] = ...) -> None: ...

class GetStateHash(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class StateHashReply(_message.Message):
    __slots__ = ("state_hash", "time_s")
    STATE_HASH_FIELD_NUMBER: _ClassVar[int]
    TIME_S_FIELD_NUMBER: _ClassVar[int]
    state_hash: str
    time_s: float
    def __init__(self, state_hash: _Optional[str] = ..., time_s: _Optional[float] = ...) -> None: ...

class Settle(_message.Message):
    __slots__ = ("duration_s",)
    DURATION_S_FIELD_NUMBER: _ClassVar[int]
    duration_s: float
    def __init__(self, duration_s: _Optional[float] = ...) -> None: ...

class SettleReply(_message.Message):
    __slots__ = ("time_s",)
    TIME_S_FIELD_NUMBER: _ClassVar[int]
    time_s: float
    def __init__(self, time_s: _Optional[float] = ...) -> None: ...
