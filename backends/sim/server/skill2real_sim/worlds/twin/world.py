"""The MuJoCo twin of the bench, as the server core sees it."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..base import (
    ArmState,
    BadArgument,
    Evaluation,
    Frame,
    GripperMove,
    GripperState,
    GroupStatus,
    Motion,
    MotionStatus,
    ResetInfo,
    TrueBody,
    WorldEvent,
)
from . import RENDERER, judge_r1, task_r1
from .cameras import HEIGHT_PX, WIDTH_PX, nominal_pairs
from .capabilities import ARM, capabilities
from .checks import check_motions
from .conventions import pose_matrix
from .groups import GroupBook, RunningGroup, RunningMotion
from .guards import ContactMonitor, GuardWatch
from .hidden_names import hidden_name, salted_evaluation
from .jaw import JawPlayer
from .kinematics import tcp_pose
from .mjcf_scene import TIMESTEP_S, compile_scene
from .motion import HOLD, ArmPlayer
from .rendering import Renderer
from .simulation import HISTORY_TICKS, Controls, Simulation
from .state_hash import model_digest, state_hash
from .streams import image_noise

F64 = NDArray[np.float64]

SETTLE_MAX_S = 3.0


@dataclass(frozen=True)
class Episode:
    """What stays the same through an episode."""

    task: str
    seed: int
    variant: str
    salt: str
    r1: task_r1.R1Task
    simulation: Simulation
    model_digest: bytes


@dataclass(frozen=True)
class Prepared:
    """An episode that is built and has settled, and has not begun."""

    episode: Episode
    settled_s: float


@dataclass(frozen=True)
class RenderState:
    episode: Episode
    qpos: F64
    tick: int
    arms: list[ArmState]


@dataclass(frozen=True)
class Snapshot:
    episode: Episode
    engine: mujoco.MjData
    controls: Controls
    history: judge_r1.History


class TwinWorld:
    """Implements skill2real_sim.worlds.base.World."""

    control_period_s = TIMESTEP_S
    renderer = RENDERER
    packed_classes: tuple[type, ...] = (
        Controls,
        ArmPlayer,
        JawPlayer,
        ContactMonitor,
        GuardWatch,
        GroupBook,
        RunningGroup,
        RunningMotion,
        judge_r1.History,
        GroupStatus,
        MotionStatus,
        WorldEvent,
    )

    def __init__(self) -> None:
        self._episode: Episode | None = None
        self._history = judge_r1.History({})
        self._renderer = Renderer()

    # ---- what it is

    def capabilities(self) -> dict[str, object]:
        """With nominal cameras before the first reset, and those of the episode after it."""
        pairs = tuple(nominal_pairs(ARM)) if self._episode is None else self._episode.r1.spec.pairs
        return capabilities(pairs)

    def tasks(self) -> list[str]:
        return ["r1"]

    @property
    def ready(self) -> bool:
        return self._episode is not None

    def _run(self) -> Episode:
        if self._episode is None:
            raise BadArgument("no world is loaded yet; reset it first")
        return self._episode

    # ---- episodes

    def reset(self, task: str, seed: int, hidden_salt: str, variant: str) -> ResetInfo:
        return self._adopt(self._prepare(task, seed, hidden_salt, variant))

    def _prepare(self, task: str, seed: int, hidden_salt: str, variant: str) -> Prepared:
        """Builds an episode and lets its things come to rest, without touching the present one."""
        if task not in self.tasks():
            raise BadArgument(f"unknown task {task!r}; this world has {', '.join(self.tasks())}")
        if variant not in task_r1.VARIANTS:
            known = ", ".join(repr(v) for v in task_r1.VARIANTS)
            raise BadArgument(f"unknown variant {variant!r}; task r1 has {known}")
        if not 0 <= seed < 2**64:
            raise BadArgument(f"seed is {seed}; it must lie in 0 to 2^64 - 1")
        r1 = self._draw(seed, variant)
        model = compile_scene(r1.spec)
        simulation = self._simulation_of(model)
        settled_s = _settle(simulation)
        episode = Episode(task, seed, variant, hidden_salt, r1, simulation, model_digest(model))
        return Prepared(episode, settled_s)

    def _draw(self, seed: int, variant: str) -> task_r1.R1Task:
        return task_r1.draw(seed, variant, ARM)

    def _simulation_of(self, model: mujoco.MjModel) -> Simulation:
        return Simulation(model)

    def _adopt(self, prepared: Prepared) -> ResetInfo:
        """Makes a prepared episode the present one; quick."""
        self._episode = episode = prepared.episode
        r1 = episode.r1
        self._renderer.use_model(episode.simulation.model)
        view = episode.simulation.view()
        self._history = judge_r1.History(
            {item.body: tuple(view.body(item.body).xpos.tolist()) for item in r1.spec.items}
        )
        details = {
            "settled_s": prepared.settled_s,
            "target": r1.target,
            "goal": r1.goal,
            "items": [vars(item) for item in r1.spec.items],
        }
        return ResetInfo(
            instruction=r1.instruction,
            rejected_draws=sum(r1.rejected.values()),
            rejected_reasons={reason: str(count) for reason, count in r1.rejected.items()},
            details_json=json.dumps(details, sort_keys=True),
        )

    @property
    def time_s(self) -> float:
        return self._episode.simulation.time_s if self._episode else 0.0

    # ---- motion

    def check_group(self, motions: list[Motion]) -> None:
        simulation = self._run().simulation
        if simulation.controls.stopped or simulation.controls.protective:
            raise BadArgument("a stop is latched; clear it before moving")
        check_motions(motions, simulation.controls.arm.q_commanded_rad)

    def start_group(self, group: int, motions: list[Motion]) -> float:
        simulation = self._run().simulation
        moving = self.busy(motions)
        if moving is not None:
            raise BadArgument(f"{moving} is moving already; wait for its end")
        self.check_group(motions)
        return simulation.start(group, motions)

    def busy(self, motions: list[Motion]) -> str | None:
        simulation = self._run().simulation
        for motion in motions:
            if isinstance(motion, GripperMove):
                if simulation.controls.book.running(is_gripper=True) is not None:
                    return f"gripper {motion.arm}"
            elif simulation.controls.arm.phase != HOLD:
                return f"arm {motion.arm}"
        return None

    def stop(self, reason: str) -> None:
        self._run().simulation.stop()

    def clear_stop(self) -> None:
        self._run().simulation.clear_stop()

    def step_until(self, until_s: float, through_motion_ends: bool) -> list[WorldEvent]:
        simulation = self._run().simulation
        controls = simulation.controls
        events = controls.pending_events
        controls.pending_events = []
        last_tick = round(until_s / TIMESTEP_S)
        while controls.tick < last_tick:
            before = len(events)
            simulation.step(events)
            if controls.tick % HISTORY_TICKS == 0:
                self._remember(self._history)
            if len(events) > before:
                kinds = {event.kind for event in events[before:]}
                if "fault" in kinds or ("motion_ended" in kinds and not through_motion_ends):
                    break
        return events

    def _remember(self, history: judge_r1.History) -> None:
        episode = self._run()
        simulation, target = episode.simulation, episode.r1.target
        if target in history.start_positions_m:
            height = float(simulation.data.body(target).xpos[2])
            if height > history.highest_target_m:
                history.highest_target_m = height

    def groups(self) -> list[GroupStatus]:
        return self._run().simulation.statuses()

    # ---- state

    def arms(self) -> list[ArmState]:
        simulation = self._run().simulation
        controls = simulation.controls
        mode = "IDLE"
        if controls.protective:
            mode = "PROTECTIVE_STOP"
        elif controls.stopped:
            mode = "STOPPED"
        elif controls.arm.phase != HOLD:
            mode = "MOVING"
        q = simulation.data.qpos[:6].copy()
        return [
            ArmState(
                name=ARM,
                q_rad=q,
                qd_rad_s=simulation.data.qvel[:6].copy(),
                X_world_tcp=tcp_pose(q),
                tcp_wrench=np.array(controls.monitor.wrench),
                mode=mode,
                time_s=simulation.time_s,
            )
        ]

    def grippers(self) -> list[GripperState]:
        simulation = self._run().simulation
        jaw = simulation.controls.jaw
        return [
            GripperState(
                arm=ARM,
                opening_m=simulation.opening_m,
                target_opening_m=jaw.target_m,
                force_n=max(0.0, -simulation.width_force_n),
                moving=jaw.moving,
                stalled=jaw.stalled,
                time_s=simulation.time_s,
            )
        ]

    # ---- pictures

    def render_state(self) -> RenderState:
        episode = self._run()
        simulation = episode.simulation
        return RenderState(episode, simulation.data.qpos.copy(), simulation.controls.tick, self.arms())

    def render(self, cameras: list[str], state: object | None = None) -> list[Frame]:
        if state is None:
            state = self.render_state()
        if not isinstance(state, RenderState):
            raise TypeError("state must come from render_state")
        models = {camera.name: camera for pair in state.episode.r1.spec.pairs for camera in pair.cameras()}
        for name in cameras:
            if name not in models:
                raise BadArgument(f"unknown camera {name!r}; the cameras are {', '.join(models)}")
        self._renderer.use_model(state.episode.simulation.model)
        images = self._renderer.render(cameras, state.qpos)
        X_world_tcp = tcp_pose(state.qpos[:6])
        indices = {name: n for n, name in enumerate(models)}
        frames = []
        for name, image in zip(cameras, images, strict=True):
            camera = models[name]
            sigma = state.episode.r1.noise_sigma_levels
            if sigma > 0:
                noise = image_noise(state.episode.seed, indices[name], state.tick, image.shape, sigma)
                image = np.clip(image.astype(np.int16) + noise, 0, 255).astype(np.uint8)
            cx, cy = camera.principal_px
            X_parent = camera.X_parent_camera
            frames.append(
                Frame(
                    camera=name,
                    width=WIDTH_PX,
                    height=HEIGHT_PX,
                    format="rgb8",
                    pixels=image,
                    exposure_time_s=state.tick * TIMESTEP_S,
                    fx_px=camera.focal_px,
                    fy_px=camera.focal_px,
                    cx_px=cx,
                    cy_px=cy,
                    parent=camera.parent,
                    X_parent_camera=X_parent.copy(),
                    X_world_camera=X_parent.copy() if camera.parent == "world" else X_world_tcp @ X_parent,
                    arms=state.arms,
                )
            )
        return frames

    # ---- privileged

    def evaluate(self) -> Evaluation:
        episode = self._run()
        simulation = episode.simulation
        # Judging leaves no trace in the world, so the present moment goes into a copy.
        history = copy.deepcopy(self._history)
        self._remember(history)
        jaw_bodies = {simulation.model.body(name).id for name in ("gripper", "finger_left", "finger_right")}
        verdict = judge_r1.evaluate(
            simulation.model,
            simulation.view(),
            episode.r1.spec.items,
            episode.r1.target,
            episode.r1.goal,
            jaw_bodies,
            history,
        )
        return salted_evaluation(verdict, episode.salt)

    def true_bodies(self) -> list[TrueBody]:
        episode = self._run()
        view = episode.simulation.view()
        bodies = []
        for item in episode.r1.spec.items:
            body = view.body(item.body)
            bodies.append(
                TrueBody(
                    name=hidden_name(item.body, episode.salt),
                    kind=item.kind,
                    colour=item.colour,
                    X_world_body=pose_matrix(body.xpos.copy(), body.xmat.reshape(3, 3).copy()),
                    size_m=np.array(item.size_m),
                    mass_kg=item.mass_kg,
                    role=item.role,
                )
            )
        return bodies

    def true_contacts(self) -> list[str]:
        episode = self._run()
        model, view = episode.simulation.model, episode.simulation.view()
        items = {item.body for item in episode.r1.spec.items}
        pairs = set()
        for i in range(view.ncon):
            contact = view.contact[i]
            if contact.dist >= 0:
                continue
            names = []
            for geom in (contact.geom1, contact.geom2):
                body = model.body(int(model.geom_bodyid[geom])).name
                if body == "world":
                    body = model.geom(int(geom)).name or "world"
                names.append(hidden_name(body, episode.salt) if body in items else body)
            pairs.add("|".join(sorted(names)))
        return sorted(pairs)

    def snapshot(self) -> Snapshot:
        episode = self._run()
        simulation = episode.simulation
        return Snapshot(
            episode,
            simulation.engine_copy(),
            copy.deepcopy(simulation.controls),
            copy.deepcopy(self._history),
        )

    def restore(self, state: object) -> None:
        if not isinstance(state, Snapshot):
            raise TypeError("state must come from snapshot")
        self._episode = state.episode
        simulation = state.episode.simulation
        simulation.controls = copy.deepcopy(state.controls)
        simulation.restore_engine(state.engine)
        self._history = copy.deepcopy(state.history)
        self._renderer.use_model(simulation.model)

    def pack(self, state: object) -> dict[str, object]:
        if not isinstance(state, Snapshot):
            raise TypeError("state must come from snapshot")
        return {
            "of": _identity(state.episode),
            "engine": state.episode.simulation.pack_engine(state.engine),
            "controls": state.controls,
            "history": state.history,
        }

    def unpack(self, packed: object) -> Snapshot:
        episode = self._run()
        if not isinstance(packed, dict) or packed.get("of") != _identity(episode):
            raise BadArgument(
                "the snapshot is of another task, seed, variant, salt or model: reset the world to them first"
            )
        controls, history = packed.get("controls"), packed.get("history")
        if not isinstance(controls, Controls) or not isinstance(history, judge_r1.History):
            raise BadArgument("the snapshot holds no state of this world")
        try:
            engine = episode.simulation.unpack_engine(packed["engine"])
        except (AttributeError, LookupError, TypeError, ValueError, OverflowError) as error:
            raise BadArgument(f"the snapshot holds no state of the engine: {error}") from None
        return Snapshot(episode, engine, controls, history)

    def state_hash(self) -> str:
        episode = self._run()
        # Progress is brought up to date whenever it is read, so also here: reading must not change the hash.
        episode.simulation.statuses()
        return state_hash(
            episode.simulation,
            self._history,
            episode.model_digest,
            episode.seed,
            episode.task,
            episode.variant,
        )

    def close(self) -> None:
        self._renderer.close()


def _identity(episode: Episode) -> tuple[str, int, str, str, bytes]:
    return episode.task, episode.seed, episode.variant, episode.salt, episode.model_digest


def _settle(simulation: Simulation) -> float:
    """Lets things come to rest, then makes that moment time 0; returns how long it took [s]."""
    model, data = simulation.model, simulation.data
    steps = 0
    # Only the arm's tree stays awake once everything lies still.
    while steps * TIMESTEP_S < SETTLE_MAX_S and (steps == 0 or data.ntree_awake > 1):
        mujoco.mj_step(model, data, 10)
        steps += 10
    data.qvel[:] = 0.0
    data.time = 0.0
    return steps * TIMESTEP_S
