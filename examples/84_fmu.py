"""An arm and its law as two FMUs, for Simulink and Modelica tools; FMPy, where it is installed, looks at them.

Run it: python examples/84_fmu.py
"""

import tempfile
from pathlib import Path

import armdyn


def main() -> None:
    arm = armdyn.arms.planar2()
    folder = Path(tempfile.mkdtemp())
    plant = armdyn.simulation.plant_fmu(armdyn.Plant(arm, saturation=[40.0, 8.0]), folder / "plant.fmu", 500.0)
    law = armdyn.control.law_fmu(armdyn.ComputedTorque.from_bandwidth(arm, 3.0), folder / "law.fmu", 500.0)
    print("wrote", plant, "and", law)
    try:
        from fmpy import read_model_description
        from fmpy.validation import validate_fmu
    except ImportError:
        return
    for file in (plant, law):
        names = [variable.name for variable in read_model_description(str(file)).modelVariables]
        print(f"{file.name}: {', '.join(names)}; problems: {validate_fmu(str(file)) or 'none'}")


if __name__ == "__main__":
    main()
