"""Does bending of the links matter? A PUMA with tubes of aluminium or of plastic as upper arm and forearm."""

import numpy as np

import armdyn

arm = armdyn.arms.puma560().with_payload(2.5)
stretched = np.array([0.0, 0.0, np.pi / 2, 0.0, 0.0, 0.0])
for material, E in (("aluminium", 70e9), ("plastic", 2.5e9)):
    radius, wall = 0.06, 0.004  # [m]
    tube = E * np.pi * radius**3 * wall  # E I of a thin tube [N m²]
    links = np.array([np.inf, tube, tube, np.inf, np.inf, np.inf])  # the others are short and stiff
    found = armdyn.link_bending(arm, stretched, links)
    print(
        f"{material}: bends at {found.frequency:.0f} Hz, sags by {1e3 * found.sag:.2f} mm; rigid up to a bandwidth of "
        f"{found.largest_bandwidth:.0f} Hz; matters at 10 Hz: {'yes' if found.matters(10.0) else 'no'}"
    )
