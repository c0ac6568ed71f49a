"""The MuJoCo twin of the bench: a UR5e with a Pika-like jaw at a table.

How pictures are made has to be settled before the engine is imported, so it is settled here.
"""

from .gl_backend import choose as _choose

RENDERER = _choose()
