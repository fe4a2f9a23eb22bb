"""MJCF files compiled by MuJoCo, without what is not needed of their geometries and without trust in their size."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

from armdyn.errors import ReadError, import_extra
from armdyn.files import MAX_TEXT_BYTES, read_bytes
from armdyn.model.mjcf.bounds import require_bounded
from armdyn.model.urdf.xml import parse_xml

MAX_FILES = 100  # of one model, with all that it includes


class MjcfSource(NamedTuple):
    """An MJCF model as MuJoCo compiles it (`MjModel`), and what of it depends on meshes that are absent."""

    where: str  # the file, for errors
    model: Any
    without_inertia: frozenset[str]  # bodies
    lost_shapes: tuple[tuple[str, str], ...] = ()  # bodies, and the meshes that they cannot collide with
    excluded: frozenset[frozenset[str]] = frozenset()  # pairs of bodies that the file keeps from colliding


def compile_mjcf(path: str | os.PathLike[str], *, shapes: bool = False) -> MjcfSource:
    """The model in a file.

    Geometries are dropped from bodies with an `<inertial>` of their own, since they do not move anything, unless
    `shapes` for collisions are wanted; elsewhere MuJoCo computes the inertia from them, meshes included where their
    files are at hand.
    """
    import_mujoco()
    return compile_texts(Path(path).resolve(), included_files(path), shapes=shapes)


def compile_texts(main: Path, files: dict[Path, bytes], *, shapes: bool = False) -> MjcfSource:
    """The model of the file `main` and its includes, whose contents are given; see `compile_mjcf`."""
    require_bounded(main, files)
    return compile_here(main, files, shapes=shapes)


def compile_here(main: Path, files: dict[Path, bytes], *, shapes: bool = False) -> MjcfSource:
    """The same without bounds on time and memory."""
    mujoco = import_mujoco()
    includes = {f.relative_to(main.parent).as_posix(): data for f, data in files.items() if f != main}
    try:
        spec = mujoco.MjSpec.from_string(files[main].decode("utf-8-sig"), include=includes)
        spec.modelfiledir = str(main.parent)
        spec.njmax = spec.nconmax = spec.memory = -1  # nothing is reserved for contacts, which are not simulated
        excluded = frozenset(frozenset((one.bodyname1, one.bodyname2)) for one in spec.excludes)
        lost, hollow = _drop_geometries(spec, main.parent, shapes, _wrapped(files))
        return MjcfSource(main.name, spec.compile(), frozenset(lost), tuple(hollow), excluded)
    except UnicodeDecodeError:
        raise ReadError(where=main.name, expected="UTF-8 text", remedy="save it as UTF-8") from None
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        raise ReadError(f"MuJoCo rejects it ({' '.join(str(error).split())})", where=main.name) from None


def import_mujoco() -> Any:
    """The module `mujoco`, or one sentence on how to get it."""
    return import_extra("mujoco", "MJCF files are read with MuJoCo, which is not installed", "mujoco")


def included_files(path: str | os.PathLike[str]) -> dict[Path, bytes]:
    """The file and all that it includes, by path; a file outside the model's folder is rejected."""
    home = Path(path).resolve().parent
    files: dict[Path, bytes] = {}
    waiting = [Path(path).resolve()]
    while waiting:
        file = waiting.pop()
        if file in files:
            continue
        if not file.is_relative_to(home):
            cause = f"includes '{file.name}' outside its own folder"
            raise ReadError(cause, where=Path(path).name, remedy="copy it there", names=(file.name,))
        if len(files) >= MAX_FILES:
            raise ReadError(f"includes more than {MAX_FILES} files; not a robot", where=Path(path).name)
        files[file] = read_bytes(file)
        root = parse_xml(files[file], file.name)
        if root.tag not in ("mujoco", "mujocoinclude"):
            raise ReadError(where=file.name, expected="an MJCF with root element <mujoco>", got=f"<{root.tag:.40}>")
        parts = [*root.iter("include"), *root.iter("model")]  # texts, and models to attach
        waiting += [(home / part.get("file", "")).resolve() for part in parts]
    return files


def _wrapped(files: dict[Path, bytes]) -> set[str]:
    """Names of the geometries that tendons wrap around."""
    roots = [parse_xml(data, file.name) for file, data in files.items()]
    return {wrap.get("geom", "") for root in roots for tendon in root.iter("spatial") for wrap in tendon.iter("geom")}


def _drop_geometries(
    spec: Any, folder: Path, shapes: bool, wrapped: set[str]
) -> tuple[set[str], list[tuple[str, str]]]:
    """Remove what does not move anything, and with `shapes` nothing that collides; tendons wrap around what stays.

    Returns the names of the bodies that lose inertia because a mesh is absent, and those that lose a shape with it.
    """
    lost: set[str] = set()
    hollow: list[tuple[str, str]] = []
    meshes = {mesh.name or Path(mesh.file).stem: mesh for mesh in spec.meshes}
    paired = {name for pair in spec.pairs for name in (pair.geomname1, pair.geomname2)}
    used = set()
    for geom in list(spec.geoms):
        mesh = meshes.get(geom.meshname) if geom.meshname else None
        absent = mesh is not None and mesh.file and not _at_hand(folder / spec.meshdir / mesh.file, shapes)
        collides = bool(geom.contype or geom.conaffinity or (geom.name and geom.name in paired))
        if absent and not geom.parent.explicitinertial:
            lost.add(geom.parent.name)
        if mesh is not None and absent and collides:
            hollow.append((geom.parent.name, mesh.file))
        is_idle = geom.parent.explicitinertial and not (shapes and collides) and geom.name not in wrapped
        if absent or is_idle or geom.hfieldname:  # a height field is ground, not a body's
            spec.delete(geom)
        else:
            used.add(geom.meshname)
            if collides:  # also where a pair alone says so
                geom.contype = 1
    for body in spec.bodies:
        if body.name in lost:  # MuJoCo asks for some inertia; the arm's is unknown
            body.explicitinertial, body.mass, body.inertia = True, 1.0, (1.0, 1.0, 1.0)
    for material in spec.materials:  # these stay: geometries, sites and tendons name them
        material.textures = [""] * len(material.textures)
    unseen = [mesh for name, mesh in meshes.items() if name not in used]
    others = (spec.sensors, spec.keys, spec.pairs, spec.excludes, spec.skins, spec.flexes, spec.hfields)
    for items in (unseen, *others, spec.textures):
        for item in list(items):
            spec.delete(item)
    return lost, hollow


def _at_hand(file: Path, bounded: bool) -> bool:
    """Whether a mesh is there, and of a size that one cares to read."""
    return file.is_file() and not (bounded and file.stat().st_size > MAX_TEXT_BYTES)
