"""MJCF files compiled by MuJoCo, without their meshes and without trust in their size or what they include."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

from armdyn.errors import ReadError, import_extra
from armdyn.files import read_bytes
from armdyn.model.mjcf.bounds import require_bounded
from armdyn.model.urdf.xml import parse_xml

MOST_FILES = 100  # of one model, with all that it includes


class Source(NamedTuple):
    """An MJCF model as MuJoCo compiles it (`MjModel`), and the bodies whose inertia hangs on meshes that are absent."""

    where: str  # the file, for errors
    model: Any
    without_inertia: frozenset[str]


def compile_mjcf(path: str | os.PathLike[str]) -> Source:
    """The model in a file.

    Geometries are dropped from bodies with an `<inertial>` of their own, since they do not move anything; elsewhere
    MuJoCo computes the inertia from them, meshes included where their files are at hand.
    """
    import_mujoco()
    return compile_texts(Path(path).resolve(), included_files(path))


def compile_texts(main: Path, files: dict[Path, bytes]) -> Source:
    """The model of the file `main` and its includes, whose contents are given; see `compile_mjcf`."""
    require_bounded(main, files)
    return compile_here(main, files)


def compile_here(main: Path, files: dict[Path, bytes]) -> Source:
    """The same without bounds on time and memory."""
    mujoco = import_mujoco()
    includes = {f.relative_to(main.parent).as_posix(): data for f, data in files.items() if f != main}
    try:
        spec = mujoco.MjSpec.from_string(files[main].decode("utf-8-sig"), include=includes)
        spec.modelfiledir = str(main.parent)
        lost = _drop_geometries(spec, mujoco, main.parent)
        return Source(main.name, spec.compile(), frozenset(lost))
    except UnicodeDecodeError:
        raise ReadError(f"{main.name}: expected UTF-8 text; save it as UTF-8") from None
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        raise ReadError(f"{main.name}: MuJoCo rejects it ({' '.join(str(error).split())})") from None


def import_mujoco() -> Any:
    """The module `mujoco`, or one sentence on how to get it."""
    return import_extra("mujoco", "MJCF files are read with MuJoCo, which is not installed", "mujoco")


def included_files(path: str | os.PathLike[str]) -> dict[Path, bytes]:
    """The file and all that it includes, by path; a file outside the model's folder is rejected."""
    home = Path(path).resolve().parent
    found: dict[Path, bytes] = {}
    waiting = [Path(path).resolve()]
    while waiting:
        file = waiting.pop()
        if file in found:
            continue
        if not file.is_relative_to(home):
            raise ReadError(f"{Path(path).name}: includes '{file.name}' outside its own folder; copy it there")
        if len(found) >= MOST_FILES:
            raise ReadError(f"{Path(path).name}: includes more than {MOST_FILES} files; not a robot")
        found[file] = read_bytes(file)
        root = parse_xml(found[file], file.name)
        if root.tag not in ("mujoco", "mujocoinclude"):
            raise ReadError(f"{file.name}: expected an MJCF with root element <mujoco>, got <{root.tag:.40}>")
        waiting += [(home / include.get("file", "")).resolve() for include in root.iter("include")]
    return found


def _drop_geometries(spec: Any, mujoco: Any, folder: Path) -> set[str]:
    """Remove what does not move anything; names of the bodies that lose inertia because a mesh is absent."""
    lost = set()
    meshes = {mesh.name or Path(mesh.file).stem: mesh for mesh in spec.meshes}
    used = set()
    for geom in list(spec.geoms):
        mesh = meshes.get(geom.meshname) if geom.type == mujoco.mjtGeom.mjGEOM_MESH else None
        absent = mesh is not None and mesh.file and not (folder / spec.meshdir / mesh.file).is_file()
        if absent and not geom.parent.explicitinertial:
            lost.add(geom.parent.name)
        if absent or geom.parent.explicitinertial:
            spec.delete(geom)
        else:
            geom.material = ""
            used.add(geom.meshname)
    for body in spec.bodies:
        if body.name in lost:  # MuJoCo asks for some inertia; the arm's is unknown
            body.explicitinertial, body.mass, body.inertia = True, 1.0, (1.0, 1.0, 1.0)
    unseen = [mesh for name, mesh in meshes.items() if name not in used]
    others = (spec.sensors, spec.keys, spec.pairs, spec.excludes, spec.skins, spec.flexes, spec.hfields)
    for items in (unseen, *others, spec.materials, spec.textures):
        for item in list(items):
            spec.delete(item)
    return lost
