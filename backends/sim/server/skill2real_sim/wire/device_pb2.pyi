from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Verb(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    VERB_UNSPECIFIED: _ClassVar[Verb]
    HELLO: _ClassVar[Verb]
    GET_STATE: _ClassVar[Verb]
    GET_FRAMES: _ClassVar[Verb]
    EXECUTE: _ClassVar[Verb]
    ADVANCE: _ClassVar[Verb]
    RENEW: _ClassVar[Verb]
    BYE: _ClassVar[Verb]
    RESUME: _ClassVar[Verb]

class ErrorCode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ERROR_UNSPECIFIED: _ClassVar[ErrorCode]
    ERROR_MALFORMED: _ClassVar[ErrorCode]
    ERROR_TOO_LARGE: _ClassVar[ErrorCode]
    ERROR_PROTOCOL_VERSION: _ClassVar[ErrorCode]
    ERROR_UNKNOWN_SESSION: _ClassVar[ErrorCode]
    ERROR_DUPLICATE_ID: _ClassVar[ErrorCode]
    ERROR_EXPIRED_ID: _ClassVar[ErrorCode]
    ERROR_SEQUENCE: _ClassVar[ErrorCode]
    ERROR_DEADLINE: _ClassVar[ErrorCode]
    ERROR_ROLE: _ClassVar[ErrorCode]
    ERROR_CONTROLLER_TAKEN: _ClassVar[ErrorCode]
    ERROR_BAD_ARGUMENT: _ClassVar[ErrorCode]
    ERROR_STOP_EPOCH: _ClassVar[ErrorCode]
    ERROR_BUSY: _ClassVar[ErrorCode]
    ERROR_CLOCK: _ClassVar[ErrorCode]
    ERROR_FAULT: _ClassVar[ErrorCode]
    ERROR_RESUME_TOKEN: _ClassVar[ErrorCode]
    ERROR_NOT_READY: _ClassVar[ErrorCode]
    ERROR_UNSUPPORTED: _ClassVar[ErrorCode]
    ERROR_CAMERA: _ClassVar[ErrorCode]
    ERROR_INTERNAL: _ClassVar[ErrorCode]
    ERROR_NOT_START: _ClassVar[ErrorCode]
    ERROR_DIVERGED: _ClassVar[ErrorCode]

class Role(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ROLE_UNSPECIFIED: _ClassVar[Role]
    CONTROLLER: _ClassVar[Role]
    OBSERVER: _ClassVar[Role]
    STOPPER: _ClassVar[Role]

class Clock(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CLOCK_UNSPECIFIED: _ClassVar[Clock]
    SIM: _ClassVar[Clock]
    WALL: _ClassVar[Clock]

class ArmMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ARM_MODE_UNSPECIFIED: _ClassVar[ArmMode]
    IDLE: _ClassVar[ArmMode]
    MOVING: _ClassVar[ArmMode]
    STOPPED: _ClassVar[ArmMode]
    PROTECTIVE_STOP: _ClassVar[ArmMode]
    FAULT: _ClassVar[ArmMode]
    DISCONNECTED: _ClassVar[ArmMode]

class EndReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    END_UNSPECIFIED: _ClassVar[EndReason]
    END_COMPLETED: _ClassVar[EndReason]
    END_CONTACT: _ClassVar[EndReason]
    END_UNEXPECTED_CONTACT: _ClassVar[EndReason]
    END_STALLED: _ClassVar[EndReason]
    END_STOPPED: _ClassVar[EndReason]
    END_PROTECTIVE_STOP: _ClassVar[EndReason]
    END_FAULT: _ClassVar[EndReason]
    END_GROUP: _ClassVar[EndReason]
    END_TIMEOUT: _ClassVar[EndReason]
VERB_UNSPECIFIED: Verb
HELLO: Verb
GET_STATE: Verb
GET_FRAMES: Verb
EXECUTE: Verb
ADVANCE: Verb
RENEW: Verb
BYE: Verb
RESUME: Verb
ERROR_UNSPECIFIED: ErrorCode
ERROR_MALFORMED: ErrorCode
ERROR_TOO_LARGE: ErrorCode
ERROR_PROTOCOL_VERSION: ErrorCode
ERROR_UNKNOWN_SESSION: ErrorCode
ERROR_DUPLICATE_ID: ErrorCode
ERROR_EXPIRED_ID: ErrorCode
ERROR_SEQUENCE: ErrorCode
ERROR_DEADLINE: ErrorCode
ERROR_ROLE: ErrorCode
ERROR_CONTROLLER_TAKEN: ErrorCode
ERROR_BAD_ARGUMENT: ErrorCode
ERROR_STOP_EPOCH: ErrorCode
ERROR_BUSY: ErrorCode
ERROR_CLOCK: ErrorCode
ERROR_FAULT: ErrorCode
ERROR_RESUME_TOKEN: ErrorCode
ERROR_NOT_READY: ErrorCode
ERROR_UNSUPPORTED: ErrorCode
ERROR_CAMERA: ErrorCode
ERROR_INTERNAL: ErrorCode
ERROR_NOT_START: ErrorCode
ERROR_DIVERGED: ErrorCode
ROLE_UNSPECIFIED: Role
CONTROLLER: Role
OBSERVER: Role
STOPPER: Role
CLOCK_UNSPECIFIED: Clock
SIM: Clock
WALL: Clock
ARM_MODE_UNSPECIFIED: ArmMode
IDLE: ArmMode
MOVING: ArmMode
STOPPED: ArmMode
PROTECTIVE_STOP: ArmMode
FAULT: ArmMode
DISCONNECTED: ArmMode
END_UNSPECIFIED: EndReason
END_COMPLETED: EndReason
END_CONTACT: EndReason
END_UNEXPECTED_CONTACT: EndReason
END_STALLED: EndReason
END_STOPPED: EndReason
END_PROTECTIVE_STOP: EndReason
END_FAULT: EndReason
END_GROUP: EndReason
END_TIMEOUT: EndReason

class Request(_message.Message):
    __slots__ = ("protocol_major", "protocol_minor", "session", "request_id", "sequence", "deadline_ms", "hello", "get_state", "get_frames", "execute", "advance", "renew", "bye", "resume")
    PROTOCOL_MAJOR_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_MINOR_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_MS_FIELD_NUMBER: _ClassVar[int]
    HELLO_FIELD_NUMBER: _ClassVar[int]
    GET_STATE_FIELD_NUMBER: _ClassVar[int]
    GET_FRAMES_FIELD_NUMBER: _ClassVar[int]
    EXECUTE_FIELD_NUMBER: _ClassVar[int]
    ADVANCE_FIELD_NUMBER: _ClassVar[int]
    RENEW_FIELD_NUMBER: _ClassVar[int]
    BYE_FIELD_NUMBER: _ClassVar[int]
    RESUME_FIELD_NUMBER: _ClassVar[int]
    protocol_major: int
    protocol_minor: int
    session: str
    request_id: str
    sequence: int
    deadline_ms: int
    hello: Hello
    get_state: GetState
    get_frames: GetFrames
    execute: Execute
    advance: Advance
    renew: Renew
    bye: Bye
    resume: Resume
    def __init__(self, protocol_major: _Optional[int] = ..., protocol_minor: _Optional[int] = ..., session: _Optional[str] = ..., request_id: _Optional[str] = ..., sequence: _Optional[int] = ..., deadline_ms: _Optional[int] = ..., hello: _Optional[_Union[Hello, _Mapping]] = ..., get_state: _Optional[_Union[GetState, _Mapping]] = ..., get_frames: _Optional[_Union[GetFrames, _Mapping]] = ..., execute: _Optional[_Union[Execute, _Mapping]] = ..., advance: _Optional[_Union[Advance, _Mapping]] = ..., renew: _Optional[_Union[Renew, _Mapping]] = ..., bye: _Optional[_Union[Bye, _Mapping]] = ..., resume: _Optional[_Union[Resume, _Mapping]] = ...) -> None: ...

class Reply(_message.Message):
    __slots__ = ("protocol_major", "protocol_minor", "request_id", "time_s", "stop_epoch", "error", "raw_parts", "hello", "state", "frames", "execute", "advance", "renew", "bye", "resume")
    PROTOCOL_MAJOR_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_MINOR_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TIME_S_FIELD_NUMBER: _ClassVar[int]
    STOP_EPOCH_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    RAW_PARTS_FIELD_NUMBER: _ClassVar[int]
    HELLO_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    FRAMES_FIELD_NUMBER: _ClassVar[int]
    EXECUTE_FIELD_NUMBER: _ClassVar[int]
    ADVANCE_FIELD_NUMBER: _ClassVar[int]
    RENEW_FIELD_NUMBER: _ClassVar[int]
    BYE_FIELD_NUMBER: _ClassVar[int]
    RESUME_FIELD_NUMBER: _ClassVar[int]
    protocol_major: int
    protocol_minor: int
    request_id: str
    time_s: float
    stop_epoch: int
    error: Error
    raw_parts: int
    hello: HelloReply
    state: StateReply
    frames: FramesReply
    execute: ExecuteReply
    advance: AdvanceReply
    renew: RenewReply
    bye: ByeReply
    resume: ResumeReply
    def __init__(self, protocol_major: _Optional[int] = ..., protocol_minor: _Optional[int] = ..., request_id: _Optional[str] = ..., time_s: _Optional[float] = ..., stop_epoch: _Optional[int] = ..., error: _Optional[_Union[Error, _Mapping]] = ..., raw_parts: _Optional[int] = ..., hello: _Optional[_Union[HelloReply, _Mapping]] = ..., state: _Optional[_Union[StateReply, _Mapping]] = ..., frames: _Optional[_Union[FramesReply, _Mapping]] = ..., execute: _Optional[_Union[ExecuteReply, _Mapping]] = ..., advance: _Optional[_Union[AdvanceReply, _Mapping]] = ..., renew: _Optional[_Union[RenewReply, _Mapping]] = ..., bye: _Optional[_Union[ByeReply, _Mapping]] = ..., resume: _Optional[_Union[ResumeReply, _Mapping]] = ...) -> None: ...

class Error(_message.Message):
    __slots__ = ("code", "message")
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    code: ErrorCode
    message: str
    def __init__(self, code: _Optional[_Union[ErrorCode, str]] = ..., message: _Optional[str] = ...) -> None: ...

class Hello(_message.Message):
    __slots__ = ("role", "client", "lease_ms")
    ROLE_FIELD_NUMBER: _ClassVar[int]
    CLIENT_FIELD_NUMBER: _ClassVar[int]
    LEASE_MS_FIELD_NUMBER: _ClassVar[int]
    role: Role
    client: str
    lease_ms: int
    def __init__(self, role: _Optional[_Union[Role, str]] = ..., client: _Optional[str] = ..., lease_ms: _Optional[int] = ...) -> None: ...

class HelloReply(_message.Message):
    __slots__ = ("session", "capabilities", "lease_ms")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    LEASE_MS_FIELD_NUMBER: _ClassVar[int]
    session: str
    capabilities: Capabilities
    lease_ms: int
    def __init__(self, session: _Optional[str] = ..., capabilities: _Optional[_Union[Capabilities, _Mapping]] = ..., lease_ms: _Optional[int] = ...) -> None: ...

class Capabilities(_message.Message):
    __slots__ = ("backend", "embodiment", "version", "clock", "arms", "grippers", "cameras", "views", "features", "step_limit", "control_period_s", "workspace")
    BACKEND_FIELD_NUMBER: _ClassVar[int]
    EMBODIMENT_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    CLOCK_FIELD_NUMBER: _ClassVar[int]
    ARMS_FIELD_NUMBER: _ClassVar[int]
    GRIPPERS_FIELD_NUMBER: _ClassVar[int]
    CAMERAS_FIELD_NUMBER: _ClassVar[int]
    VIEWS_FIELD_NUMBER: _ClassVar[int]
    FEATURES_FIELD_NUMBER: _ClassVar[int]
    STEP_LIMIT_FIELD_NUMBER: _ClassVar[int]
    CONTROL_PERIOD_S_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_FIELD_NUMBER: _ClassVar[int]
    backend: str
    embodiment: str
    version: str
    clock: Clock
    arms: _containers.RepeatedCompositeFieldContainer[Arm]
    grippers: _containers.RepeatedCompositeFieldContainer[Gripper]
    cameras: _containers.RepeatedCompositeFieldContainer[Camera]
    views: _containers.RepeatedCompositeFieldContainer[View]
    features: _containers.RepeatedScalarFieldContainer[str]
    step_limit: int
    control_period_s: float
    workspace: Workspace
    def __init__(self, backend: _Optional[str] = ..., embodiment: _Optional[str] = ..., version: _Optional[str] = ..., clock: _Optional[_Union[Clock, str]] = ..., arms: _Optional[_Iterable[_Union[Arm, _Mapping]]] = ..., grippers: _Optional[_Iterable[_Union[Gripper, _Mapping]]] = ..., cameras: _Optional[_Iterable[_Union[Camera, _Mapping]]] = ..., views: _Optional[_Iterable[_Union[View, _Mapping]]] = ..., features: _Optional[_Iterable[str]] = ..., step_limit: _Optional[int] = ..., control_period_s: _Optional[float] = ..., workspace: _Optional[_Union[Workspace, _Mapping]] = ...) -> None: ...

class Workspace(_message.Message):
    __slots__ = ("table_z_m", "min_xyz_m", "max_xyz_m")
    TABLE_Z_M_FIELD_NUMBER: _ClassVar[int]
    MIN_XYZ_M_FIELD_NUMBER: _ClassVar[int]
    MAX_XYZ_M_FIELD_NUMBER: _ClassVar[int]
    table_z_m: float
    min_xyz_m: _containers.RepeatedScalarFieldContainer[float]
    max_xyz_m: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, table_z_m: _Optional[float] = ..., min_xyz_m: _Optional[_Iterable[float]] = ..., max_xyz_m: _Optional[_Iterable[float]] = ...) -> None: ...

class Arm(_message.Message):
    __slots__ = ("name", "model", "dh", "X_world_base", "X_flange_tcp", "limits", "capsules", "home_q_rad", "kinematics_source", "contact_force_default_n", "contact_torque_default_nm")
    NAME_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    DH_FIELD_NUMBER: _ClassVar[int]
    X_WORLD_BASE_FIELD_NUMBER: _ClassVar[int]
    X_FLANGE_TCP_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    CAPSULES_FIELD_NUMBER: _ClassVar[int]
    HOME_Q_RAD_FIELD_NUMBER: _ClassVar[int]
    KINEMATICS_SOURCE_FIELD_NUMBER: _ClassVar[int]
    CONTACT_FORCE_DEFAULT_N_FIELD_NUMBER: _ClassVar[int]
    CONTACT_TORQUE_DEFAULT_NM_FIELD_NUMBER: _ClassVar[int]
    name: str
    model: str
    dh: _containers.RepeatedCompositeFieldContainer[DhRow]
    X_world_base: _containers.RepeatedScalarFieldContainer[float]
    X_flange_tcp: _containers.RepeatedScalarFieldContainer[float]
    limits: _containers.RepeatedCompositeFieldContainer[JointLimit]
    capsules: _containers.RepeatedCompositeFieldContainer[Capsule]
    home_q_rad: _containers.RepeatedScalarFieldContainer[float]
    kinematics_source: str
    contact_force_default_n: float
    contact_torque_default_nm: float
    def __init__(self, name: _Optional[str] = ..., model: _Optional[str] = ..., dh: _Optional[_Iterable[_Union[DhRow, _Mapping]]] = ..., X_world_base: _Optional[_Iterable[float]] = ..., X_flange_tcp: _Optional[_Iterable[float]] = ..., limits: _Optional[_Iterable[_Union[JointLimit, _Mapping]]] = ..., capsules: _Optional[_Iterable[_Union[Capsule, _Mapping]]] = ..., home_q_rad: _Optional[_Iterable[float]] = ..., kinematics_source: _Optional[str] = ..., contact_force_default_n: _Optional[float] = ..., contact_torque_default_nm: _Optional[float] = ...) -> None: ...

class DhRow(_message.Message):
    __slots__ = ("a_m", "d_m", "alpha_rad", "theta_offset_rad")
    A_M_FIELD_NUMBER: _ClassVar[int]
    D_M_FIELD_NUMBER: _ClassVar[int]
    ALPHA_RAD_FIELD_NUMBER: _ClassVar[int]
    THETA_OFFSET_RAD_FIELD_NUMBER: _ClassVar[int]
    a_m: float
    d_m: float
    alpha_rad: float
    theta_offset_rad: float
    def __init__(self, a_m: _Optional[float] = ..., d_m: _Optional[float] = ..., alpha_rad: _Optional[float] = ..., theta_offset_rad: _Optional[float] = ...) -> None: ...

class JointLimit(_message.Message):
    __slots__ = ("position_min_rad", "position_max_rad", "velocity_rad_s", "acceleration_rad_s2", "jerk_rad_s3", "torque_nm")
    POSITION_MIN_RAD_FIELD_NUMBER: _ClassVar[int]
    POSITION_MAX_RAD_FIELD_NUMBER: _ClassVar[int]
    VELOCITY_RAD_S_FIELD_NUMBER: _ClassVar[int]
    ACCELERATION_RAD_S2_FIELD_NUMBER: _ClassVar[int]
    JERK_RAD_S3_FIELD_NUMBER: _ClassVar[int]
    TORQUE_NM_FIELD_NUMBER: _ClassVar[int]
    position_min_rad: float
    position_max_rad: float
    velocity_rad_s: float
    acceleration_rad_s2: float
    jerk_rad_s3: float
    torque_nm: float
    def __init__(self, position_min_rad: _Optional[float] = ..., position_max_rad: _Optional[float] = ..., velocity_rad_s: _Optional[float] = ..., acceleration_rad_s2: _Optional[float] = ..., jerk_rad_s3: _Optional[float] = ..., torque_nm: _Optional[float] = ...) -> None: ...

class Capsule(_message.Message):
    __slots__ = ("link", "p0_m", "p1_m", "radius_m", "name")
    LINK_FIELD_NUMBER: _ClassVar[int]
    P0_M_FIELD_NUMBER: _ClassVar[int]
    P1_M_FIELD_NUMBER: _ClassVar[int]
    RADIUS_M_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    link: int
    p0_m: _containers.RepeatedScalarFieldContainer[float]
    p1_m: _containers.RepeatedScalarFieldContainer[float]
    radius_m: float
    name: str
    def __init__(self, link: _Optional[int] = ..., p0_m: _Optional[_Iterable[float]] = ..., p1_m: _Optional[_Iterable[float]] = ..., radius_m: _Optional[float] = ..., name: _Optional[str] = ...) -> None: ...

class Gripper(_message.Message):
    __slots__ = ("arm", "control", "measured", "max_opening_m", "stroke_m", "max_force_n", "max_speed_m_s", "finger_length_m", "finger_width_m", "finger_thickness_m")
    ARM_FIELD_NUMBER: _ClassVar[int]
    CONTROL_FIELD_NUMBER: _ClassVar[int]
    MEASURED_FIELD_NUMBER: _ClassVar[int]
    MAX_OPENING_M_FIELD_NUMBER: _ClassVar[int]
    STROKE_M_FIELD_NUMBER: _ClassVar[int]
    MAX_FORCE_N_FIELD_NUMBER: _ClassVar[int]
    MAX_SPEED_M_S_FIELD_NUMBER: _ClassVar[int]
    FINGER_LENGTH_M_FIELD_NUMBER: _ClassVar[int]
    FINGER_WIDTH_M_FIELD_NUMBER: _ClassVar[int]
    FINGER_THICKNESS_M_FIELD_NUMBER: _ClassVar[int]
    arm: str
    control: str
    measured: bool
    max_opening_m: float
    stroke_m: float
    max_force_n: float
    max_speed_m_s: float
    finger_length_m: float
    finger_width_m: float
    finger_thickness_m: float
    def __init__(self, arm: _Optional[str] = ..., control: _Optional[str] = ..., measured: _Optional[bool] = ..., max_opening_m: _Optional[float] = ..., stroke_m: _Optional[float] = ..., max_force_n: _Optional[float] = ..., max_speed_m_s: _Optional[float] = ..., finger_length_m: _Optional[float] = ..., finger_width_m: _Optional[float] = ..., finger_thickness_m: _Optional[float] = ...) -> None: ...

class Camera(_message.Message):
    __slots__ = ("name", "parent", "width", "height", "fx_px", "fy_px", "cx_px", "cy_px", "X_parent_camera", "format")
    NAME_FIELD_NUMBER: _ClassVar[int]
    PARENT_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    FX_PX_FIELD_NUMBER: _ClassVar[int]
    FY_PX_FIELD_NUMBER: _ClassVar[int]
    CX_PX_FIELD_NUMBER: _ClassVar[int]
    CY_PX_FIELD_NUMBER: _ClassVar[int]
    X_PARENT_CAMERA_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    name: str
    parent: str
    width: int
    height: int
    fx_px: float
    fy_px: float
    cx_px: float
    cy_px: float
    X_parent_camera: _containers.RepeatedScalarFieldContainer[float]
    format: str
    def __init__(self, name: _Optional[str] = ..., parent: _Optional[str] = ..., width: _Optional[int] = ..., height: _Optional[int] = ..., fx_px: _Optional[float] = ..., fy_px: _Optional[float] = ..., cx_px: _Optional[float] = ..., cy_px: _Optional[float] = ..., X_parent_camera: _Optional[_Iterable[float]] = ..., format: _Optional[str] = ...) -> None: ...

class View(_message.Message):
    __slots__ = ("role", "arm", "left", "right", "depth", "baseline_m", "look_q_rad")
    ROLE_FIELD_NUMBER: _ClassVar[int]
    ARM_FIELD_NUMBER: _ClassVar[int]
    LEFT_FIELD_NUMBER: _ClassVar[int]
    RIGHT_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    BASELINE_M_FIELD_NUMBER: _ClassVar[int]
    LOOK_Q_RAD_FIELD_NUMBER: _ClassVar[int]
    role: str
    arm: str
    left: str
    right: str
    depth: str
    baseline_m: float
    look_q_rad: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, role: _Optional[str] = ..., arm: _Optional[str] = ..., left: _Optional[str] = ..., right: _Optional[str] = ..., depth: _Optional[str] = ..., baseline_m: _Optional[float] = ..., look_q_rad: _Optional[_Iterable[float]] = ...) -> None: ...

class GetState(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ArmState(_message.Message):
    __slots__ = ("name", "q_rad", "qd_rad_s", "X_world_tcp", "tcp_wrench", "mode", "time_s")
    NAME_FIELD_NUMBER: _ClassVar[int]
    Q_RAD_FIELD_NUMBER: _ClassVar[int]
    QD_RAD_S_FIELD_NUMBER: _ClassVar[int]
    X_WORLD_TCP_FIELD_NUMBER: _ClassVar[int]
    TCP_WRENCH_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    TIME_S_FIELD_NUMBER: _ClassVar[int]
    name: str
    q_rad: _containers.RepeatedScalarFieldContainer[float]
    qd_rad_s: _containers.RepeatedScalarFieldContainer[float]
    X_world_tcp: _containers.RepeatedScalarFieldContainer[float]
    tcp_wrench: _containers.RepeatedScalarFieldContainer[float]
    mode: ArmMode
    time_s: float
    def __init__(self, name: _Optional[str] = ..., q_rad: _Optional[_Iterable[float]] = ..., qd_rad_s: _Optional[_Iterable[float]] = ..., X_world_tcp: _Optional[_Iterable[float]] = ..., tcp_wrench: _Optional[_Iterable[float]] = ..., mode: _Optional[_Union[ArmMode, str]] = ..., time_s: _Optional[float] = ...) -> None: ...

class GripperState(_message.Message):
    __slots__ = ("arm", "opening_m", "target_opening_m", "force_n", "moving", "stalled", "time_s")
    ARM_FIELD_NUMBER: _ClassVar[int]
    OPENING_M_FIELD_NUMBER: _ClassVar[int]
    TARGET_OPENING_M_FIELD_NUMBER: _ClassVar[int]
    FORCE_N_FIELD_NUMBER: _ClassVar[int]
    MOVING_FIELD_NUMBER: _ClassVar[int]
    STALLED_FIELD_NUMBER: _ClassVar[int]
    TIME_S_FIELD_NUMBER: _ClassVar[int]
    arm: str
    opening_m: float
    target_opening_m: float
    force_n: float
    moving: bool
    stalled: bool
    time_s: float
    def __init__(self, arm: _Optional[str] = ..., opening_m: _Optional[float] = ..., target_opening_m: _Optional[float] = ..., force_n: _Optional[float] = ..., moving: _Optional[bool] = ..., stalled: _Optional[bool] = ..., time_s: _Optional[float] = ...) -> None: ...

class StateReply(_message.Message):
    __slots__ = ("arms", "grippers", "stop_latched", "stop_reason", "steps_left", "groups")
    ARMS_FIELD_NUMBER: _ClassVar[int]
    GRIPPERS_FIELD_NUMBER: _ClassVar[int]
    STOP_LATCHED_FIELD_NUMBER: _ClassVar[int]
    STOP_REASON_FIELD_NUMBER: _ClassVar[int]
    STEPS_LEFT_FIELD_NUMBER: _ClassVar[int]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    arms: _containers.RepeatedCompositeFieldContainer[ArmState]
    grippers: _containers.RepeatedCompositeFieldContainer[GripperState]
    stop_latched: bool
    stop_reason: str
    steps_left: int
    groups: _containers.RepeatedCompositeFieldContainer[GroupStatus]
    def __init__(self, arms: _Optional[_Iterable[_Union[ArmState, _Mapping]]] = ..., grippers: _Optional[_Iterable[_Union[GripperState, _Mapping]]] = ..., stop_latched: _Optional[bool] = ..., stop_reason: _Optional[str] = ..., steps_left: _Optional[int] = ..., groups: _Optional[_Iterable[_Union[GroupStatus, _Mapping]]] = ...) -> None: ...

class GetFrames(_message.Message):
    __slots__ = ("cameras", "not_before_s")
    CAMERAS_FIELD_NUMBER: _ClassVar[int]
    NOT_BEFORE_S_FIELD_NUMBER: _ClassVar[int]
    cameras: _containers.RepeatedScalarFieldContainer[str]
    not_before_s: float
    def __init__(self, cameras: _Optional[_Iterable[str]] = ..., not_before_s: _Optional[float] = ...) -> None: ...

class Frame(_message.Message):
    __slots__ = ("camera", "width", "height", "format", "part", "exposure_time_s", "fx_px", "fy_px", "cx_px", "cy_px", "parent", "X_parent_camera", "X_world_camera", "arms_at_exposure")
    CAMERA_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    PART_FIELD_NUMBER: _ClassVar[int]
    EXPOSURE_TIME_S_FIELD_NUMBER: _ClassVar[int]
    FX_PX_FIELD_NUMBER: _ClassVar[int]
    FY_PX_FIELD_NUMBER: _ClassVar[int]
    CX_PX_FIELD_NUMBER: _ClassVar[int]
    CY_PX_FIELD_NUMBER: _ClassVar[int]
    PARENT_FIELD_NUMBER: _ClassVar[int]
    X_PARENT_CAMERA_FIELD_NUMBER: _ClassVar[int]
    X_WORLD_CAMERA_FIELD_NUMBER: _ClassVar[int]
    ARMS_AT_EXPOSURE_FIELD_NUMBER: _ClassVar[int]
    camera: str
    width: int
    height: int
    format: str
    part: int
    exposure_time_s: float
    fx_px: float
    fy_px: float
    cx_px: float
    cy_px: float
    parent: str
    X_parent_camera: _containers.RepeatedScalarFieldContainer[float]
    X_world_camera: _containers.RepeatedScalarFieldContainer[float]
    arms_at_exposure: _containers.RepeatedCompositeFieldContainer[ArmState]
    def __init__(self, camera: _Optional[str] = ..., width: _Optional[int] = ..., height: _Optional[int] = ..., format: _Optional[str] = ..., part: _Optional[int] = ..., exposure_time_s: _Optional[float] = ..., fx_px: _Optional[float] = ..., fy_px: _Optional[float] = ..., cx_px: _Optional[float] = ..., cy_px: _Optional[float] = ..., parent: _Optional[str] = ..., X_parent_camera: _Optional[_Iterable[float]] = ..., X_world_camera: _Optional[_Iterable[float]] = ..., arms_at_exposure: _Optional[_Iterable[_Union[ArmState, _Mapping]]] = ...) -> None: ...

class FramesReply(_message.Message):
    __slots__ = ("frames",)
    FRAMES_FIELD_NUMBER: _ClassVar[int]
    frames: _containers.RepeatedCompositeFieldContainer[Frame]
    def __init__(self, frames: _Optional[_Iterable[_Union[Frame, _Mapping]]] = ...) -> None: ...

class Guard(_message.Message):
    __slots__ = ("force_n", "torque_nm", "direction_world", "contact_expected")
    FORCE_N_FIELD_NUMBER: _ClassVar[int]
    TORQUE_NM_FIELD_NUMBER: _ClassVar[int]
    DIRECTION_WORLD_FIELD_NUMBER: _ClassVar[int]
    CONTACT_EXPECTED_FIELD_NUMBER: _ClassVar[int]
    force_n: float
    torque_nm: float
    direction_world: _containers.RepeatedScalarFieldContainer[float]
    contact_expected: bool
    def __init__(self, force_n: _Optional[float] = ..., torque_nm: _Optional[float] = ..., direction_world: _Optional[_Iterable[float]] = ..., contact_expected: _Optional[bool] = ...) -> None: ...

class JointTrajectory(_message.Message):
    __slots__ = ("arm", "time_s", "q_rad", "guard")
    ARM_FIELD_NUMBER: _ClassVar[int]
    TIME_S_FIELD_NUMBER: _ClassVar[int]
    Q_RAD_FIELD_NUMBER: _ClassVar[int]
    GUARD_FIELD_NUMBER: _ClassVar[int]
    arm: str
    time_s: _containers.RepeatedScalarFieldContainer[float]
    q_rad: _containers.RepeatedScalarFieldContainer[float]
    guard: Guard
    def __init__(self, arm: _Optional[str] = ..., time_s: _Optional[_Iterable[float]] = ..., q_rad: _Optional[_Iterable[float]] = ..., guard: _Optional[_Union[Guard, _Mapping]] = ...) -> None: ...

class TcpPath(_message.Message):
    __slots__ = ("arm", "time_s", "X_world_tcp", "guard")
    ARM_FIELD_NUMBER: _ClassVar[int]
    TIME_S_FIELD_NUMBER: _ClassVar[int]
    X_WORLD_TCP_FIELD_NUMBER: _ClassVar[int]
    GUARD_FIELD_NUMBER: _ClassVar[int]
    arm: str
    time_s: _containers.RepeatedScalarFieldContainer[float]
    X_world_tcp: _containers.RepeatedScalarFieldContainer[float]
    guard: Guard
    def __init__(self, arm: _Optional[str] = ..., time_s: _Optional[_Iterable[float]] = ..., X_world_tcp: _Optional[_Iterable[float]] = ..., guard: _Optional[_Union[Guard, _Mapping]] = ...) -> None: ...

class GripperMove(_message.Message):
    __slots__ = ("arm", "opening_m", "force_n", "speed_m_s")
    ARM_FIELD_NUMBER: _ClassVar[int]
    OPENING_M_FIELD_NUMBER: _ClassVar[int]
    FORCE_N_FIELD_NUMBER: _ClassVar[int]
    SPEED_M_S_FIELD_NUMBER: _ClassVar[int]
    arm: str
    opening_m: float
    force_n: float
    speed_m_s: float
    def __init__(self, arm: _Optional[str] = ..., opening_m: _Optional[float] = ..., force_n: _Optional[float] = ..., speed_m_s: _Optional[float] = ...) -> None: ...

class Motion(_message.Message):
    __slots__ = ("joint_trajectory", "tcp_path", "gripper_move")
    JOINT_TRAJECTORY_FIELD_NUMBER: _ClassVar[int]
    TCP_PATH_FIELD_NUMBER: _ClassVar[int]
    GRIPPER_MOVE_FIELD_NUMBER: _ClassVar[int]
    joint_trajectory: JointTrajectory
    tcp_path: TcpPath
    gripper_move: GripperMove
    def __init__(self, joint_trajectory: _Optional[_Union[JointTrajectory, _Mapping]] = ..., tcp_path: _Optional[_Union[TcpPath, _Mapping]] = ..., gripper_move: _Optional[_Union[GripperMove, _Mapping]] = ...) -> None: ...

class Execute(_message.Message):
    __slots__ = ("stop_epoch", "motions")
    STOP_EPOCH_FIELD_NUMBER: _ClassVar[int]
    MOTIONS_FIELD_NUMBER: _ClassVar[int]
    stop_epoch: int
    motions: _containers.RepeatedCompositeFieldContainer[Motion]
    def __init__(self, stop_epoch: _Optional[int] = ..., motions: _Optional[_Iterable[_Union[Motion, _Mapping]]] = ...) -> None: ...

class ExecuteReply(_message.Message):
    __slots__ = ("group", "start_time_s", "expected_end_time_s")
    GROUP_FIELD_NUMBER: _ClassVar[int]
    START_TIME_S_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_END_TIME_S_FIELD_NUMBER: _ClassVar[int]
    group: int
    start_time_s: float
    expected_end_time_s: float
    def __init__(self, group: _Optional[int] = ..., start_time_s: _Optional[float] = ..., expected_end_time_s: _Optional[float] = ...) -> None: ...

class MotionStatus(_message.Message):
    __slots__ = ("index", "end_reason", "end_time_s", "fraction_done", "contact_force_n", "reached_point", "mean_force_n")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    END_REASON_FIELD_NUMBER: _ClassVar[int]
    END_TIME_S_FIELD_NUMBER: _ClassVar[int]
    FRACTION_DONE_FIELD_NUMBER: _ClassVar[int]
    CONTACT_FORCE_N_FIELD_NUMBER: _ClassVar[int]
    REACHED_POINT_FIELD_NUMBER: _ClassVar[int]
    MEAN_FORCE_N_FIELD_NUMBER: _ClassVar[int]
    index: int
    end_reason: EndReason
    end_time_s: float
    fraction_done: float
    contact_force_n: _containers.RepeatedScalarFieldContainer[float]
    reached_point: int
    mean_force_n: float
    def __init__(self, index: _Optional[int] = ..., end_reason: _Optional[_Union[EndReason, str]] = ..., end_time_s: _Optional[float] = ..., fraction_done: _Optional[float] = ..., contact_force_n: _Optional[_Iterable[float]] = ..., reached_point: _Optional[int] = ..., mean_force_n: _Optional[float] = ...) -> None: ...

class GroupStatus(_message.Message):
    __slots__ = ("group", "active", "motions")
    GROUP_FIELD_NUMBER: _ClassVar[int]
    ACTIVE_FIELD_NUMBER: _ClassVar[int]
    MOTIONS_FIELD_NUMBER: _ClassVar[int]
    group: int
    active: bool
    motions: _containers.RepeatedCompositeFieldContainer[MotionStatus]
    def __init__(self, group: _Optional[int] = ..., active: _Optional[bool] = ..., motions: _Optional[_Iterable[_Union[MotionStatus, _Mapping]]] = ...) -> None: ...

class Advance(_message.Message):
    __slots__ = ("until_s", "through_motion_ends")
    UNTIL_S_FIELD_NUMBER: _ClassVar[int]
    THROUGH_MOTION_ENDS_FIELD_NUMBER: _ClassVar[int]
    until_s: float
    through_motion_ends: bool
    def __init__(self, until_s: _Optional[float] = ..., through_motion_ends: _Optional[bool] = ...) -> None: ...

class AdvanceReply(_message.Message):
    __slots__ = ("state", "events")
    STATE_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    state: StateReply
    events: _containers.RepeatedCompositeFieldContainer[Event]
    def __init__(self, state: _Optional[_Union[StateReply, _Mapping]] = ..., events: _Optional[_Iterable[_Union[Event, _Mapping]]] = ...) -> None: ...

class StopRequest(_message.Message):
    __slots__ = ("protocol_major", "session", "reason")
    PROTOCOL_MAJOR_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    protocol_major: int
    session: str
    reason: str
    def __init__(self, protocol_major: _Optional[int] = ..., session: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class StopReply(_message.Message):
    __slots__ = ("stop_epoch", "time_s")
    STOP_EPOCH_FIELD_NUMBER: _ClassVar[int]
    TIME_S_FIELD_NUMBER: _ClassVar[int]
    stop_epoch: int
    time_s: float
    def __init__(self, stop_epoch: _Optional[int] = ..., time_s: _Optional[float] = ...) -> None: ...

class Resume(_message.Message):
    __slots__ = ("stop_epoch", "token")
    STOP_EPOCH_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    stop_epoch: int
    token: str
    def __init__(self, stop_epoch: _Optional[int] = ..., token: _Optional[str] = ...) -> None: ...

class ResumeReply(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Renew(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RenewReply(_message.Message):
    __slots__ = ("lease_ms",)
    LEASE_MS_FIELD_NUMBER: _ClassVar[int]
    lease_ms: int
    def __init__(self, lease_ms: _Optional[int] = ...) -> None: ...

class Bye(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ByeReply(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Event(_message.Message):
    __slots__ = ("number", "time_s", "group_started", "group_progress", "motion_ended", "stopped", "fault", "resumed", "world_changed", "ending")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    TIME_S_FIELD_NUMBER: _ClassVar[int]
    GROUP_STARTED_FIELD_NUMBER: _ClassVar[int]
    GROUP_PROGRESS_FIELD_NUMBER: _ClassVar[int]
    MOTION_ENDED_FIELD_NUMBER: _ClassVar[int]
    STOPPED_FIELD_NUMBER: _ClassVar[int]
    FAULT_FIELD_NUMBER: _ClassVar[int]
    RESUMED_FIELD_NUMBER: _ClassVar[int]
    WORLD_CHANGED_FIELD_NUMBER: _ClassVar[int]
    ENDING_FIELD_NUMBER: _ClassVar[int]
    number: int
    time_s: float
    group_started: GroupStatus
    group_progress: GroupStatus
    motion_ended: GroupStatus
    stopped: Stopped
    fault: Fault
    resumed: Resumed
    world_changed: WorldChanged
    ending: Ending
    def __init__(self, number: _Optional[int] = ..., time_s: _Optional[float] = ..., group_started: _Optional[_Union[GroupStatus, _Mapping]] = ..., group_progress: _Optional[_Union[GroupStatus, _Mapping]] = ..., motion_ended: _Optional[_Union[GroupStatus, _Mapping]] = ..., stopped: _Optional[_Union[Stopped, _Mapping]] = ..., fault: _Optional[_Union[Fault, _Mapping]] = ..., resumed: _Optional[_Union[Resumed, _Mapping]] = ..., world_changed: _Optional[_Union[WorldChanged, _Mapping]] = ..., ending: _Optional[_Union[Ending, _Mapping]] = ...) -> None: ...

class Stopped(_message.Message):
    __slots__ = ("stop_epoch", "reason")
    STOP_EPOCH_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    stop_epoch: int
    reason: str
    def __init__(self, stop_epoch: _Optional[int] = ..., reason: _Optional[str] = ...) -> None: ...

class Fault(_message.Message):
    __slots__ = ("code", "message", "arm")
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    ARM_FIELD_NUMBER: _ClassVar[int]
    code: str
    message: str
    arm: str
    def __init__(self, code: _Optional[str] = ..., message: _Optional[str] = ..., arm: _Optional[str] = ...) -> None: ...

class Resumed(_message.Message):
    __slots__ = ("stop_epoch",)
    STOP_EPOCH_FIELD_NUMBER: _ClassVar[int]
    stop_epoch: int
    def __init__(self, stop_epoch: _Optional[int] = ...) -> None: ...

class WorldChanged(_message.Message):
    __slots__ = ("world_epoch",)
    WORLD_EPOCH_FIELD_NUMBER: _ClassVar[int]
    world_epoch: int
    def __init__(self, world_epoch: _Optional[int] = ...) -> None: ...

class Ending(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...
