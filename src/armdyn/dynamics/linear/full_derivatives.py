"""Derivatives of the whole arm's torques: what friction, rotors, damping and springs make of M, C and K."""

from __future__ import annotations

from typing import Any, NamedTuple

from armdyn.dynamics.drive import drive_inertia, drive_torque
from armdyn.dynamics.friction import direction, friction_torque, joint_frictions
from armdyn.dynamics.linear.torque_derivatives import TorqueDerivatives
from armdyn.dynamics.shafts import drive_torques, shaft_torques
from armdyn.errors import check_choice
from armdyn.model.arm import Arm
from armdyn.trace.symbols import Symbol, ca, on_symbols

MODELS = ("rigid", "full")


class Balance(NamedTuple):
    """dtau = gain (M dqdd + C dqd + K dq), shaft by shaft; M is symmetric, gain (n,) is 1 but for friction
    that grows with the load."""

    arm: Arm
    gain: Symbol
    M: Symbol
    C: Symbol
    K: Symbol

    @property
    def matrices(self) -> tuple[Symbol, Symbol, Symbol]:
        """Derivatives of the torques with respect to qdd, qd and q."""
        M, C, K = (self._scaled(self.gain, X) for X in (self.M, self.C, self.K))
        return M, C, K

    @property
    def inverse_gain(self) -> Symbol:
        """Inverse gain of torques of the joints (n, n)."""
        if self.arm.coupling is None:
            return ca.diag(1 / self.gain)
        return self._scaled(1 / self.gain, ca.SX.eye(self.arm.n))

    def _scaled(self, scale: Symbol, X: Symbol) -> Symbol:
        """Torques X (n, k) of the joints, each shaft's times a factor."""
        return drive_torques(self.arm, ca.mtimes(ca.diag(scale), shaft_torques(self.arm, X)))


class JointTerms(NamedTuple):
    """Torques in the joints, their derivatives, and how friction of the shafts grows with the load."""

    arm: Arm
    tau: Symbol
    M: Symbol
    C: Symbol
    K: Symbol
    share: Symbol  # tau = tau_0 + share |tau|
    share_slope: Symbol  # d share/d qd

    def sign(self, rigid: TorqueDerivatives) -> Symbol:
        """The sign of the shafts' torques."""
        return ca.sign(shaft_torques(self.arm, rigid.tau + self.tau))

    def gain(self, rigid: TorqueDerivatives) -> Symbol:
        """tau / tau_0, from tau = tau_0 + share |tau|."""
        return 1 / (1 - self.share * self.sign(rigid))

    def balance(self, rigid: TorqueDerivatives) -> Balance:
        """Return the balance of the whole arm."""
        gain = self.gain(rigid)
        C = rigid.C + self.C + self._by_share(rigid, rigid.tau + self.tau)
        return Balance(self.arm, gain, rigid.M + self.M, C, rigid.K + self.K)

    def change(self, rigid: TorqueDerivatives, slope: TorqueDerivatives) -> Balance:
        """Derivatives of `balance(rigid)` when those of `rigid` are `slope`; the gain does not change."""
        gain = self.gain(rigid)
        return Balance(self.arm, gain, slope.M, slope.C + self._by_share(rigid, slope.tau), slope.K)

    def _by_share(self, rigid: TorqueDerivatives, tau: Symbol) -> Symbol:
        """Return what torques (n,) add to C, as the shares change with the shafts' speeds."""
        by_share = shaft_torques(self.arm, tau) * self.gain(rigid) * self.sign(rigid)
        return drive_torques(self.arm, ca.mtimes(ca.diag(by_share), self.share_slope))


def rigid_terms(arm: Arm) -> JointTerms:
    """Nothing in the joints."""
    nothing, zero = ca.SX.zeros(arm.n), ca.SX.zeros(arm.n, arm.n)
    return JointTerms(arm, nothing, zero, zero, zero, nothing, zero)


def full_terms(
    arm: Arm, q: Symbol, qd: Symbol, qdd: Symbol, width: float, friction: Symbol, drive: Symbol
) -> JointTerms:
    """Friction, rotors, damping and springs; `width` is that of `friction_torque`."""

    def derivatives(x: Symbol, v: Symbol) -> list[Symbol]:
        lost = friction_torque(arm, x, v, width=width, friction=friction)
        tau = lost + drive_torque(arm, x, v, qdd, drive=drive)
        shafts = joint_frictions(arm, x, v, friction)
        drives = [shafts[i] for i in arm.coordinate_indices]
        share = ca.vertcat(*(shaft["load"] * direction(shaft.v, width) for shaft in drives))
        return [tau, ca.jacobian(tau, v), ca.jacobian(tau, x), share, ca.jacobian(share, v)]

    tau, C, K, share, share_slope = on_symbols(derivatives, q, qd)
    return JointTerms(arm, tau, drive_inertia(arm, drive), C, K, share, share_slope)


def joint_terms(arm: Arm, model: str, where: str, *state: Any) -> JointTerms:
    """Those of the chosen model; `state` is what `full_terms` takes."""
    check_choice(where, "model", model, MODELS)
    return rigid_terms(arm) if model == "rigid" else full_terms(arm, *state)
