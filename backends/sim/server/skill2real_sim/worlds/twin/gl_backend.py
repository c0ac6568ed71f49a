"""Chooses how pictures are made on a machine that may have neither a GPU nor a display."""

from __future__ import annotations

import ctypes
import ctypes.util
import os

CHOICES = ("egl", "osmesa")
_EGL_PLATFORM_DEVICE_EXT = 0x313F
_MAX_DEVICES = 16


def egl_works() -> bool:
    """Whether an EGL device can be initialised, without importing what the engine will import later."""
    try:
        egl = ctypes.CDLL(ctypes.util.find_library("EGL") or "libEGL.so.1")
        egl.eglGetProcAddress.restype = ctypes.c_void_p
        query_at = egl.eglGetProcAddress(b"eglQueryDevicesEXT")
        display_at = egl.eglGetProcAddress(b"eglGetPlatformDisplayEXT")
        if not query_at or not display_at:
            return False
        pointer, integer = ctypes.c_void_p, ctypes.c_int
        query = ctypes.CFUNCTYPE(integer, integer, ctypes.POINTER(pointer), ctypes.POINTER(integer))(query_at)
        get_display = ctypes.CFUNCTYPE(pointer, integer, pointer, ctypes.POINTER(integer))(display_at)
        devices, count = (pointer * _MAX_DEVICES)(), integer(0)
        if not query(_MAX_DEVICES, devices, ctypes.byref(count)):
            return False
        egl.eglInitialize.argtypes = [pointer, ctypes.POINTER(integer), ctypes.POINTER(integer)]
        for i in range(count.value):
            display = get_display(_EGL_PLATFORM_DEVICE_EXT, devices[i], None)
            if display and egl.eglInitialize(display, None, None):
                egl.eglTerminate.argtypes = [pointer]
                egl.eglTerminate(display)
                return True
    except (OSError, AttributeError):
        return False
    return False


def choose() -> str:
    """Sets MUJOCO_GL where the environment does not, before the engine is imported; returns the choice."""
    chosen = os.environ.get("MUJOCO_GL", "").lower()
    if chosen not in CHOICES:
        chosen = "egl" if egl_works() else "osmesa"
        os.environ["MUJOCO_GL"] = chosen
    os.environ["PYOPENGL_PLATFORM"] = chosen
    return chosen
