"""Assembles arm, jaw, room, items and cameras into one compiled model."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco

from . import mjcf_arm, mjcf_gripper, mjcf_items, mjcf_table, ur5e
from .cameras import HEIGHT_PX, WIDTH_PX, StereoPair
from .colours import COLOURS
from .conventions import engine_camera_from_optical, fovy_deg_from_focal
from .items import Item
from .mjcf_text import element, numbers
from .textures import Texture

TIMESTEP_S = 0.002
ENGINE_MEMORY = "4M"
CONTACT_SOLREF = "0.004 1"
CONTACT_SOLIMP = "0.95 0.99 0.001"


@dataclass(frozen=True)
class SceneSpec:
    """Everything a model is compiled from."""

    items: tuple[Item, ...]
    pairs: tuple[StereoPair, ...]
    lighting: mjcf_table.Lighting
    textures: tuple[Texture, ...]
    table_friction: float
    pad_friction: float
    table_rgb: tuple[float, float, float]
    extra_geoms: str = ""
    deltas: ur5e.DhDeltas = ur5e.NOMINAL


def _defaults(spec: SceneSpec) -> str:
    contact = {"solref": CONTACT_SOLREF, "solimp": CONTACT_SOLIMP}
    arm = element(
        "geom", type="capsule", friction="0.5 0.005 0.0001", mass="0", group="2", condim="3", solref="0.01 1"
    )
    plate = element(
        "geom",
        type="box",
        mass="0",
        group="2",
        friction="0.5 0.005 0.0001",
        material="jaw",
        condim="3",
        **contact,
    )
    pad = element(
        "geom",
        type="box",
        mass="0",
        group="2",
        friction=(spec.pad_friction, 0.02, 0.001),
        material="pad",
        condim="4",
        priority="1",
        **contact,
    )
    tip = element(
        "geom",
        type="box",
        mass="0",
        group="2",
        friction=(spec.pad_friction, 0.02, 0.001),
        material="pad",
        condim="4",
        priority="2",
        solref="0.01 1",
        solimp="0.8 0.8 0.001",
    )
    item = element("geom", group="1", condim="4", **contact)
    seen = element("geom", contype="0", conaffinity="0", mass="0", group="2")
    return element(
        "default",
        [
            element("default", [arm], class_="arm_collision"),
            element("default", [plate], class_="finger_plate"),
            element("default", [pad], class_="finger_pad"),
            element("default", [tip], class_="finger_tip"),
            element("default", [item], class_="item"),
            element("default", [seen], class_="seen_only"),
        ],
    )


def _assets(spec: SceneSpec) -> str:
    def material(
        name: str,
        rgb: tuple[float, float, float],
        texture: str | None,
        specular: float = 0.15,
        **more: object,
    ) -> str:
        return element(
            "material",
            name=name,
            rgba=(*rgb, 1.0),
            texture=texture,
            specular=specular,
            shininess=0.3,
            reflectance="0",
            **more,
        )

    # A 512-texel tile of the table covers 1.0 m: about 2 mm a texel, a little over a pixel of the top-down
    # pair.
    table = material("table", spec.table_rgb, "tex_table", 0.05, texuniform="true", texrepeat="1 1")
    parts = [
        element(
            "texture",
            type="skybox",
            builtin="gradient",
            rgb1="0.62 0.68 0.75",
            rgb2="0.30 0.33 0.38",
            width="64",
            height="384",
        ),
        table,
        material("floor", (0.36, 0.38, 0.42), "tex_floor", 0.0, texuniform="true", texrepeat="1 1"),
        material("leg", (0.3, 0.3, 0.32), None),
        material("arm_light", (0.80, 0.82, 0.84), "tex_arm"),
        material("arm_dark", (0.42, 0.44, 0.47), "tex_arm"),
        material("arm_cap", (0.36, 0.55, 0.66), None),
        material("jaw", (0.30, 0.31, 0.33), "tex_arm"),
        material("pad", (0.16, 0.16, 0.17), "tex_arm"),
        material("lens", (0.05, 0.05, 0.06), None, 0.6),
    ]
    for item in spec.items:
        parts.append(material(mjcf_items.material_name(item), COLOURS[item.colour], f"tex_{item.body}", 0.1))
    return element("asset", parts)


def _camera_elements(spec: SceneSpec, world: bool) -> str:
    out = []
    for pair in spec.pairs:
        if (pair.parent == "world") != world:
            continue
        for camera in pair.cameras():
            position, quat = engine_camera_from_optical(camera.X_parent_camera)
            out.append(
                element(
                    "camera",
                    name=camera.name,
                    pos=position,
                    quat=quat,
                    fovy=fovy_deg_from_focal(camera.focal_px, HEIGHT_PX),
                )
            )
    return "".join(out)


def _fixed_surfaces(spec: SceneSpec) -> list[str]:
    return ["table", *(mjcf_items.surface_name(item) for item in spec.items if not item.free)]


def scene_xml(spec: SceneSpec) -> str:
    """The MJCF without textures (those are added as raw bytes)."""
    ambient = spec.lighting.ambient_rgb
    world = [
        mjcf_table.room_lights(spec.lighting),
        mjcf_table.room_geoms(spec.table_friction),
        _camera_elements(spec, world=True),
        mjcf_arm.arm_body(mjcf_gripper.gripper_body(_camera_elements(spec, world=False)), spec.deltas),
        *(mjcf_items.item_body(item) for item in spec.items),
        spec.extra_geoms,
    ]
    return element(
        "mujoco",
        [
            element("compiler", angle="radian", autolimits="true", boundmass="0"),
            element("size", memory=ENGINE_MEMORY),
            element(
                "option",
                # Things that lie still sleep until something touches them: they neither creep nor cost time.
                [element("flag", sleep="enable")],
                timestep=repr(TIMESTEP_S),
                integrator="implicitfast",
                cone="elliptic",
                impratio="10",
                iterations="50",
            ),
            element(
                "visual",
                [
                    element("global", offwidth=str(WIDTH_PX), offheight=str(HEIGHT_PX)),
                    element("quality", shadowsize="0", offsamples="0"),
                    element("map", znear="0.01", zfar="6"),
                    element("headlight", ambient=ambient, diffuse="0 0 0", specular="0 0 0"),
                ],
            ),
            element("statistic", extent="1", center=numbers((0.0, 0.4, 0.2))),
            _defaults(spec),
            _assets(spec),
            element("worldbody", world),
            element(
                "contact",
                [
                    mjcf_arm.arm_excludes((mjcf_gripper.BODY,)),
                    mjcf_gripper.gripper_excludes(),
                    *(
                        mjcf_gripper.tip_pairs(surface, spec.pad_friction)
                        for surface in _fixed_surfaces(spec)
                    ),
                ],
            ),
            mjcf_gripper.gripper_coupling(),
            element("actuator", [mjcf_arm.arm_actuators(), mjcf_gripper.gripper_actuator()]),
        ],
        model="twin",
    )


def compile_scene(spec: SceneSpec) -> mujoco.MjModel:
    engine_spec = mujoco.MjSpec.from_string(scene_xml(spec))
    for texture in spec.textures:
        height, width, channels = texture.pixels.shape
        cube = texture.kind == "cube"
        added = engine_spec.add_texture(
            name=texture.name,
            type=mujoco.mjtTexture.mjTEXTURE_CUBE if cube else mujoco.mjtTexture.mjTEXTURE_2D,
            width=width,
            height=height * 6 if cube else height,
            nchannel=channels,
        )
        added.data = (texture.pixels.tobytes() * 6) if cube else texture.pixels.tobytes()
    return engine_spec.compile()
