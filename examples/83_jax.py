"""Learn a payload by gradient descent in JAX: exact derivatives of the inverse dynamics by the inertial parameters.

Run it: python examples/83_jax.py (needs the extra `jax`)
"""

import numpy as np

import armdyn
from armdyn.errors import install_command


def main() -> None:
    try:
        import jax
    except ImportError:
        print(f"JAX is not installed: {install_command('jax')}")
        return
    jax.config.update("jax_enable_x64", True)
    arm = armdyn.arms.planar2()
    loaded = arm.with_payload(1.5)
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 200, arm.n))
    measured = armdyn.inverse_dynamics(loaded, q, qd, qdd)
    torque = armdyn.to_jax(armdyn.inverse_dynamics, arm)
    one_kilogram = arm.with_payload(1.0).theta - arm.theta

    @jax.jit
    def loss(mass):
        return ((torque(q, qd, qdd, theta=arm.theta + mass * one_kilogram) - measured) ** 2).mean()

    slope, curvature = jax.jit(jax.grad(loss)), jax.jit(jax.grad(jax.grad(loss)))
    mass = 0.0
    for k in range(3):
        print(f"step {k}: payload {mass:.6f} kg, loss {loss(mass):.3g}")
        mass -= slope(mass) / curvature(mass)  # Newton's step: the loss is quadratic in the mass
    print(f"found {float(mass):.6f} kg, true 1.500000 kg")
    assert abs(mass - 1.5) < 1e-9


if __name__ == "__main__":
    main()
