"""Columns of a study in words and units, where people read them; files and scripts keep their names."""

from __future__ import annotations

# Of columns whose names say what they are; others keep their names, and have the unit of what they multiply, or none.
WORDS = {
    "rms_error": ("joint error, rms", "rad or m"),
    "max_error": ("largest joint error", "rad or m"),
    "final_error": ("joint error at the end, rms", "rad or m"),
    "rms_tip_error": ("tip error, rms", "m"),
    "max_tip_error": ("largest tip error", "m"),
    "rms_torque": ("torque, rms", "N m or N"),
    "max_torque": ("largest torque", "N m or N"),
    "effort": ("work of the drives", "J"),
    "settling_time": ("settling time", "s"),
    "peak_torque": ("largest torque", "N m or N"),
    "energy": ("work of the drives", "J"),
    "peak_power": ("largest power of all drives", "W"),
    "natural_frequency": ("lowest natural frequency", "Hz"),
    "drive_mass": ("mass of the drives", "kg"),
    "reaction_force": ("largest force on bearings", "N"),
    "reaction_moment": ("largest moment on bearings", "N m"),
    "reach": ("reach", "m"),
    "manipulability": ("least manipulability", ""),
    "payload": ("payload", "kg"),
}


# What an infinite value means; of other columns that the run diverged.
INFINITE = {
    "settling_time": "never",
    **dict.fromkeys(
        ("peak_torque", "energy", "reaction_force", "reaction_moment", "peak_power", "drive_mass"), "unable"
    ),
    "natural_frequency": "rigid",
}


def words(name: str) -> str:
    """A column's name in words."""
    return WORDS.get(name, (name, ""))[0]


def unit(name: str) -> str:
    """A column's unit; empty where it has none."""
    return WORDS.get(name, (name, ""))[1]


def label(name: str) -> str:
    """A column's name in words, with its unit."""
    return f"{words(name)} [{unit(name)}]" if unit(name) else words(name)
