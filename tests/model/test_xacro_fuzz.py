"""Xacros of strangers: spoilt and hostile ones end in a URDF or one sentence, read nothing outside, write nothing."""

import random

import pytest

from armdyn.errors import ReadError
from armdyn.model.xacro import expand_xacro

pytest.importorskip("xacrodoc")

SEED = """<robot name="a" xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:arg name="length" default="0.5"/><xacro:property name="m" value="${2 * 1.5}"/>
<xacro:macro name="part" params="name z"><link name="${name}"><inertial><mass value="${m}"/></inertial></link>
</xacro:macro>
<xacro:if value="${m > 1}"><xacro:part name="upper" z="$(arg length)"/></xacro:if>
<link name="base"/></robot>"""
SECRET = "do-not-tell-anyone"
HOSTILE = (
    "${xacro.load_yaml('PLACE/secret')}",
    "$(find secret)",
    "$(arg nobody)",
    "$(eval __import__('os').system('touch PLACE/written'))",
    "${().__class__.__base__.__subclasses__()[100:140]}",
    "${[c for c in ().__class__.__base__.__subclasses__() if c.__name__ == 'catch_warnings']}",
    "${open('PLACE/secret').read()}",
    "${'x' * 10**9}",
    "${[0] * 10**10}",
    "${__import__('subprocess').run('touch PLACE/written', shell=True)}",
    "<xacro:include filename='PLACE/secret'/>",
    "<xacro:include filename='../outside/secret'/>",
    "<xacro:include filename='file.xacro'/>",
    "<xacro:part name='again' z='0'/>",
    "<xacro:macro name='part' params='name z'><xacro:part name='x' z='1'/></xacro:macro>",
    "<!DOCTYPE robot [<!ENTITY e SYSTEM 'file://PLACE/secret'>]>",
    "&e;",
)


HARMLESS = ("<link name='more'/>", "<!-- ${nothing} -->", "<xacro:property name='k' value='${m ** 2}'/>", " \n\t")


def spoilt(rng: random.Random, place: str) -> bytes:
    """The seed with some of its pieces cut, doubled, changed, hostile, or harmless.

    Half of them are spoilt four times and by hostile pieces alone, so that hardly any is left that expands.
    """
    text, harshly = SEED, rng.random() < 0.5
    for _ in range(rng.randint(1, 4 if harshly else 2)):
        at = rng.randrange(len(text))
        match rng.randrange(5 if harshly else 8):
            case 0:
                text = text[:at] + text[at + rng.randint(1, 30) :]
            case 1:
                text = text[:at] + text[at : at + rng.randint(1, 60)] * 2 + text[at:]
            case 2:
                text = text[:at] + chr(rng.randrange(1, 0x2FF)) + text[at + 1 :]
            case _:
                cut = text.find(">", at) + 1
                piece = rng.choice(HOSTILE if harshly or rng.random() < 0.5 else HARMLESS)
                text = text[:cut] + piece.replace("PLACE", place) + text[cut:]
    return text.encode("utf-8", "replace")


def attack(tmp_path, seeds: range) -> list[str]:
    """What became of every spoilt xacro, one word each."""
    outside, home = tmp_path / "outside", tmp_path / "home"
    outside.mkdir()
    home.mkdir()
    (outside / "secret").write_text(SECRET)
    found = []
    for seed in seeds:
        file = home / "file.xacro"
        file.write_bytes(spoilt(random.Random(seed), str(outside)))
        try:
            told, word = expand_xacro(file).decode("utf-8", "replace"), "urdf"
        except ReadError as error:
            told, word = str(error), "rejected"
            assert "\n" not in told
            assert told.startswith("file.xacro: ")
        assert SECRET not in told, seed
        assert [path.name for path in outside.iterdir()] == ["secret"], seed
        assert [path.name for path in home.iterdir()] == ["file.xacro"], seed
        found.append(word)
    return found


def test_a_few_spoilt_xacros(tmp_path):
    assert set(attack(tmp_path, range(106, 114))) == {"urdf", "rejected"}


@pytest.mark.slow
def test_many_spoilt_xacros(tmp_path):
    words = attack(tmp_path, range(200, 500))
    assert min(words.count("urdf"), words.count("rejected")) > 20
