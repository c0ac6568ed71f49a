"""SHA-256 over everything that decides how a world goes on.

Integrator state, sleeping bodies, controllers, guards and motion books, the seed (all randomness after a
reset is a function of seed, camera and tick), and the model itself: its fixtures, masses, frictions, lights
and textures.
"""

from __future__ import annotations

import hashlib

import mujoco
import numpy as np

from .judge_r1 import History
from .simulation import Simulation


def model_digest(model: mujoco.MjModel) -> bytes:
    """Digest of the compiled model as the engine would save it; taken once, right after compilation."""
    buffer = np.empty(mujoco.mj_sizeModel(model), dtype=np.uint8)
    mujoco.mj_saveModel(model, None, buffer)
    return hashlib.sha256(buffer.tobytes()).digest()


def state_hash(
    simulation: Simulation, history: History, model: bytes, seed: int, task: str, variant: str
) -> str:
    digest = hashlib.sha256()
    digest.update(model)
    digest.update(f"{task}|{seed}|{variant}".encode())
    simulation.digest_engine(digest)
    simulation.controls.digest(digest)
    history.digest(digest)
    return digest.hexdigest()
