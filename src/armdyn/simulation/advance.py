"""One integrator step of a plant, over symbols: Runge-Kutta of order four, with friction that sticks.

A joint with dry friction moves in a direction (+1, -1) or sticks (0). Within a step the directions are fixed,
so that the motion is smooth and nothing chatters; between steps

* a stuck joint breaks away when holding it would take more than the breakaway torque (Eindhoven 1987, section
  5.1). What holding takes depends on the other joints, which move on with those that stick held fast;
* a joint whose velocity changed sign stops: its position is that of the instant of rest, exact for constant
  deceleration, and it rests until the end of the step.

A stuck joint has velocity zero and keeps its position to the last bit. Events are thus resolved to one step.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from armdyn.dynamics.drive import drive_inertia, drive_torque
from armdyn.dynamics.friction import breakaway_torque, joint_frictions
from armdyn.dynamics.ltdl import factorized
from armdyn.dynamics.mass_matrix import mass_matrix
from armdyn.dynamics.newton_euler import inverse_dynamics
from armdyn.kinematics.motion import Symbol
from armdyn.model.arm import Arm
from armdyn.model.joint import DRIVE_NAMES, FRICTION_NAMES
from armdyn.simulation.elasticity import spring_torque
from armdyn.simulation.plant import Kind
from armdyn.trace.symbols import ca

Values = Mapping[str, Any]

# Times of the three instants of a step at which forces are known, in steps.
INSTANTS = (0.0, 0.5, 1.0)
MOVES = ("q", "qd")


class Equations(NamedTuple):
    """M qdd = net, friction not included."""

    M: Symbol
    net: Symbol


class Slip(NamedTuple):
    """Which joints move (1) or stick (0), and in which direction friction sees them move."""

    moving: Symbol
    direction: Symbol


class Step(NamedTuple):
    """A plant's formula for one step: its arm, its kind and the data by name."""

    arm: Arm
    kind: Kind
    data: Values

    def advance(self, state: Values, command: Symbol) -> dict[str, Symbol]:
        """The state after the step and `tau`, the torques of the drives when it began."""
        q, qd = state["q"], state["qd"]
        tau, motor = self._torques(state, command)
        x, v = (ca.vertcat(state[name], state[f"rotor_{name}"]) if self.kind.elastic else state[name] for name in MOVES)
        at_links = self._drive_train(x, v, tau[0])[0]
        slip = self._slip(state, at_links)
        h, n = self.data["dt"], self.arm.n
        x1, v1 = self._runge_kutta(x, v, tau, slip, h)
        q1, qd1 = x1[:n], v1[:n]
        after = {"q": q1, "qd": qd1, "tau": tau[0]}
        if self.kind.lag:
            after["motor"] = motor
        if self.kind.elastic:
            after |= {"rotor_q": x1[n:], "rotor_qd": v1[n:]}
        if slip is not None:
            stop = slip.direction * qd1 < 0
            stop = ca.logic_and(self._is_dry(q, at_links), stop)
            # The instant of rest, were the deceleration constant: q + qd t / 2, t = h qd / (qd - qd1).
            rest = q + h * qd * qd / (2 * (qd - qd1))
            after["q"] = ca.if_else(stop, ca.if_else(qd * slip.direction > 0, rest, q), q1)
            after["qd"] = ca.if_else(stop, 0, qd1)
            after["direction"] = ca.if_else(stop, 0, slip.direction)
        return after

    # -- torques ----------------------------------------------------------------------------------------

    def _torques(self, state: Values, command: Symbol) -> tuple[list[Symbol], Symbol]:
        """Torques of the drives at the three instants, and at the end of the step."""
        if self.kind.saturation:
            limit = self.data["limit"]
            command = ca.fmax(ca.fmin(command, limit), -limit)
        if not self.kind.lag:
            return [command] * 3, command
        # First-order lag solved exactly for a held command; `decay` (3, n) is exp(-t / lag).
        decay = self.data["decay"]
        tau = [command + (state["motor"] - command) * decay[k, :].T for k in range(3)]
        return tau, tau[2]

    # -- equations of motion ----------------------------------------------------------------------------

    def equations(self, q: Symbol, qd: Symbol, tau: Symbol, instant: int) -> Equations:
        """M and the torques that accelerate, friction aside."""
        data, still = self.data, ca.SX.zeros(self.arm.n)
        outside = {
            name: data[name][instant, :].T if name == "wrench" else data[name][instant]
            for name in ("wrench", "base_motion")
            if name in data
        }
        M = mass_matrix(self.arm, q, theta=data["theta"])
        net = tau - inverse_dynamics(self.arm, q, qd, still, **outside, theta=data["theta"], gravity=data["gravity"])
        if self.kind.rotors:
            drive = self._drive_at_links
            M = M + drive_inertia(self.arm, drive)
            net = net - drive_torque(self.arm, q, qd, still, drive=drive)
        return Equations(M, net)

    @property
    def _drive_at_links(self) -> Symbol:
        """The drives' numbers that act on links: rotors of elastic joints move by themselves."""
        drive = ca.SX(self.data["drive"])
        for i in self.kind.elastic:
            for name in ("inertia", "damping"):
                drive[i, DRIVE_NAMES.index(name)] = 0
        return drive

    def _drive_train(self, x: Symbol, v: Symbol, tau: Symbol) -> tuple[Symbol, Symbol]:
        """From torques of the drives: those that reach the links (n,), and accelerations of elastic joints' rotors."""
        n, data, at_links, rotors = self.arm.n, self.data, ca.SX(tau), []
        for k, i in enumerate(self.kind.elastic):
            at_links[i] = spring_torque(
                x[n + k] - x[i], v[n + k] - v[i], data["springs"][k, :], i in self.kind.backlash
            )
            inertia, damping = (data["drive"][i, DRIVE_NAMES.index(name)] for name in ("inertia", "damping"))
            rotors.append((tau[i] - at_links[i] - damping * v[n + k]) / inertia)
        return at_links, ca.vertcat(*rotors)

    def _rates(self, x: Symbol, v: Symbol, tau: Symbol, instant: int, slip: Slip | None) -> Symbol:
        """Accelerations of links and of elastic joints' rotors."""
        n = self.arm.n
        at_links, rotors = self._drive_train(x, v, tau)
        return ca.vertcat(self.acceleration(x[:n], v[:n], at_links, instant, slip), rotors)

    def acceleration(self, q: Symbol, qd: Symbol, tau: Symbol, instant: int, slip: Slip | None) -> Symbol:
        """Joint accelerations, those of stuck joints zero."""
        M, net = self.equations(q, qd, tau, instant)
        if self.kind.friction == "none":
            return factorized(M).solve(net)
        direction = ca.sign(qd) if slip is None else slip.direction
        joints = joint_frictions(self.arm, q, qd, self._friction, load=tau)
        net = net - ca.vertcat(*(joint.sliding(direction[i]) for i, joint in enumerate(joints)))
        return factorized(M).solve(net) if slip is None else _held(M, net, slip.moving)

    def _runge_kutta(
        self, x: Symbol, v: Symbol, tau: list[Symbol], slip: Slip | None, h: Symbol
    ) -> tuple[Symbol, Symbol]:
        """Kutta's classical method on positions and velocities."""
        a1 = self._rates(x, v, tau[0], 0, slip)
        v2 = v + h / 2 * a1
        a2 = self._rates(x + h / 2 * v, v2, tau[1], 1, slip)
        v3 = v + h / 2 * a2
        a3 = self._rates(x + h / 2 * v2, v3, tau[1], 1, slip)
        v4 = v + h * a3
        a4 = self._rates(x + h * v3, v4, tau[2], 2, slip)
        return x + h / 6 * (v + 2 * (v2 + v3) + v4), v + h / 6 * (a1 + 2 * (a2 + a3) + a4)

    # -- sticking ---------------------------------------------------------------------------------------

    @property
    def _friction(self) -> Symbol:
        """The joints' friction; without Stribeck's curve static is Coulomb friction and no exponential remains."""
        friction = ca.SX(self.data["friction"])
        if not self.kind.stribeck:
            friction[:, FRICTION_NAMES.index("static")] = friction[:, FRICTION_NAMES.index("coulomb")]
        return friction

    def breakaway(self, q: Symbol, tau: Symbol) -> tuple[Symbol, Symbol]:
        """Torques beyond which joints at rest move forward and backward."""
        return tuple(breakaway_torque(self.arm, q, load=tau, friction=self._friction))

    def _is_dry(self, q: Symbol, tau: Symbol) -> Symbol:
        forward, backward = self.breakaway(q, tau)
        return forward > backward

    def _slip(self, state: Values, tau: Symbol) -> Slip | None:
        """Which joints move in this step: those that did, and those that break away now."""
        if self.kind.friction != "dry":
            return None
        q, qd, direction = state["q"], state["qd"], state["direction"]
        forward, backward = self.breakaway(q, tau)
        stuck = ca.logic_and(forward > backward, direction == 0)
        M, net = self.equations(q, qd, tau, 0)
        joints = joint_frictions(self.arm, q, qd, self._friction, load=tau)
        lost = ca.vertcat(*(joint.sliding(direction[i]) for i, joint in enumerate(joints)))
        free = 1 - stuck
        qdd = _held(M, net - lost, free)
        holding = net - ca.mtimes(M, qdd)
        away = (holding > forward) - (holding < backward)
        direction = ca.if_else(stuck, away, ca.if_else(forward > backward, direction, ca.sign(qd)))
        return Slip(ca.if_else(stuck, ca.fabs(away), 1), direction)


def _held(M: Symbol, net: Symbol, moving: Symbol) -> Symbol:
    """Accelerations of the joints that move while the others are held: rows and columns of the latter are 1's."""
    n = M.shape[0]
    masked = ca.SX(M)
    for i in range(n):
        for j in range(i + 1):
            masked[i, j] = moving[i] * moving[j] * M[i, j]
        masked[i, i] = moving[i] * M[i, i] + (1 - moving[i])
    return factorized(masked).solve(moving * net)
