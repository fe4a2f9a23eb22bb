"""Numbers that Kapadia (1995) prints, in its own order of parameters P1 ... P18."""

from __future__ import annotations

import numpy as np

# P1 ... P15 by armdyn's labels (the order is inferred from the values, erratum 7), then Coulomb friction P16 ... P18.
INERTIAL = (
    "Izz1", "mx2", "my2", "Izz2", "Ixx2", "Ixy2", "Ixz2", "Iyz2", "mx3", "my3", "Izz3", "Ixx3", "Ixy3", "Ixz3", "Iyz3",
)  # fmt: skip
COULOMB = ("Fc1", "Fc2", "Fc3")
ALL = (*INERTIAL, *COULOMB)

# Table 7.1: the standard values, by projection of Armstrong's model on the 15 columns.
STANDARD = np.array(
    [3.9495, 3.7920, 0.1040, 5.6320, -1.3804, -0.0070, -0.6889, -0.0227, 0.0254, 0.8632, 0.7491, 0.3006, -0.0106,
     -0.0038, -0.1342]
)  # fmt: skip
# Table 7.3: least squares over ten trajectories, and with the two weakest directions left out.
BATCH = np.array(
    [-2.33, 3.65, 0.2882, 2.1338, -21.4683, 3.1672, 9.6260, 2.5412, -0.4547, 1.1508, 0.0706, -0.3341, -0.0859, -1.7325,
     -0.4610, 11.2301, 11.8241, 5.0680]
)  # fmt: skip
ELIMINATION = np.array(
    [-2.27, 3.63, 0.1726, 1.9362, -1.1323, -0.7777, 8.2690, 2.9666, -0.4591, 1.1271, 0.1509, -5.1987, 2.1842, -1.7476,
     -0.2702, 11.2216, 11.8651, 5.0491]
)  # fmt: skip
# Parameters of the optimised trajectory, and their estimates: LMS (Table 7.4), LMS along the convergent mode (7.5).
ELEVEN = ("mx2", "my2", "mx3", "my3", "Izz3", "Ixy3", "Ixz3", "Iyz3", *COULOMB)
LMS = np.array([4.2884, 1.5080, -0.4331, 6.0005, 1.4839, -7.2153, -5.405, 0.4607, 5.0596, 16.9753, 2.6616])
CONVERGENT = np.array([4.1138, 0.0880, -0.2991, 0.9029, 0.5202, -0.0121, -0.0013, 0.0076, 11.2252, 11.6792, 5.0324])
EIGHT = ELEVEN[:8]  # of section 5.4.3; appendix C has all eleven
# Section 5.4.3: cost before and after the optimisation.
COST_BEFORE, COST_AFTER = 0.0278, 0.0024
# Table 7.2, a trajectory per row: condition of the regressor; after significance by sensitivities; by singular values;
# and which parameters the two left out.
CONDITIONS = ((2499.5, 92.1, 44.5), (1096.3, 57.9, 84.5), (502.3, 498.5, 127.0))
LEFT_OUT = (("1,5,7,12,13,14", "3,5,6,9,10"), ("1,5,6,7,12", "5,9,10,12,17"), ("7,14", "2,3,4,9,10,17"))
# Table 7.6: gravity parameters of the Sarcos arm, and Table 7.7: standard deviations of its torque errors [N m].
GRAVITY = {
    "mx1": 3.7467, "mz1": 3.7196, "mx2": 5.3212, "mz2": 78.096, "mx3": -2.547, "mz3": 3.905, "mx4": 0.4624,
    "mz4": 23.1605, "mx5": 0.2526, "mz5": 0.616, "mx6": -0.1174, "mz6": -0.0052, "mx7": -1.7239, "my7": -0.3668,
}  # fmt: skip
TORQUE_ERRORS = np.array([12.6941, 24.9719, 9.1544, 5.7428, 1.3930, 6.8802, 1.8714])
