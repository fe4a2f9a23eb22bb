"""One integrator step of a plant, over symbols: Runge-Kutta of order four, with friction that sticks.

A joint with dry friction moves in a direction (+1, -1) or sticks (0). Within a step the directions are fixed,
so that the motion is smooth and nothing chatters; between steps

* a stuck joint breaks away when holding it would take more than the breakaway torque (Eindhoven 1987, section
  5.1). What holding takes depends on the other joints, which move on with those that stick held fast;
* a joint whose velocity changed sign stops: its position is that of the instant of rest, exact for constant
  deceleration, and it rests until the end of the step.

A stuck joint has velocity zero and keeps its position to the last bit. Events are thus resolved to one step.

Friction acts at the drives' shafts, which turn with several joints where drives are coupled: then it is shafts that
slide and stick, and the equations are those of the shafts' motion.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from armdyn.control.laws.model import FRICTION_WIDTH
from armdyn.control.wrist import free_reading
from armdyn.dynamics.bodies.ltdl import factorize
from armdyn.dynamics.constrained import solve_constrained, wanted_acceleration
from armdyn.dynamics.constraint import jacobian_of
from armdyn.dynamics.drive import drive_inertia, drive_torque
from armdyn.dynamics.friction import breakaway_torque, direction, joint_frictions
from armdyn.dynamics.mass_matrix import mass_matrix
from armdyn.dynamics.newton_euler import inverse_dynamics
from armdyn.dynamics.shafts import at_drives, from_shafts, joint_torques, shaft_torques
from armdyn.kinematics.forward import link_frames, tip_frame
from armdyn.kinematics.jacobian import jacobian
from armdyn.model.arm import Arm
from armdyn.model.joint import DRIVE_NAMES, FRICTION_NAMES
from armdyn.simulation.plant.contact import contact_forces, stop_torques, wrench_at_tip
from armdyn.simulation.plant.elasticity import spring_torque
from armdyn.simulation.plant.parts import PlantFeatures
from armdyn.simulation.plant.servo import SERVO_NAMES, servo_torque
from armdyn.trace.stages import call_stage
from armdyn.trace.symbols import Symbol, ca

Values = Mapping[str, Any]

MOVES = ("q", "qd")
# Errors of constraints fade at this part of the rate of steps: the fixed step of order four stays stable and exact.
CONSTRAINT_RATE_TIMES_STEP = 0.05


class PlantEquations(NamedTuple):
    """M a = net of links and rotors, or of the shafts of coupled drives; friction not included."""

    M: Symbol
    net: Symbol


class Slip(NamedTuple):
    """Joints (or shafts) that move (1) or stick (0), and the direction in which friction sees them move."""

    moving: Symbol
    direction: Symbol


class PlantStep(NamedTuple):
    """A plant's formula for one step: its arm, its kind and the data by name."""

    arm: Arm
    kind: PlantFeatures
    data: Values

    def advance(self, state: Values, command: Symbol) -> dict[str, Symbol]:
        """The state after the step and `tau`, the torques of the drives when it began."""
        tau, motor = self._torques(state, command)
        x, v = (ca.vertcat(state[name], state[f"rotor_{name}"]) if self.kind.elastic else state[name] for name in MOVES)
        slip = self._slip(x, v, tau[0], state)
        x1, v1 = self._runge_kutta(x, v, tau, slip, self.data["dt"])
        after = {"tau": self.drive_torques(x, v, tau[0])}
        if self.kind.surfaces:
            after["contact"] = ca.vertcat(*(f.T for f, _ in self.contacts(state["q"], state["qd"])))
        if self.kind.constraint is not None:
            after["multipliers"] = self.constrained(x, v, tau[0], 0)[1]
        if self.kind.lag:
            after["motor"] = motor
        if slip is not None:
            x1, v1, after["direction"] = self._stop(x, v, x1, v1, slip, self.is_dry(x, v, tau[0]))
        n = self.arm.n
        after |= {"q": x1[:n], "qd": v1[:n]}
        return {**after, "rotor_q": x1[n:], "rotor_qd": v1[n:]} if self.kind.elastic else after

    # -- torques ----------------------------------------------------------------------------------------

    def _torques(self, state: Values, command: Symbol) -> tuple[list[Symbol], Symbol]:
        """Torques of the drives at the three instants, and at the end of the step; for servos, positions."""
        if not self.kind.servo:
            command = self._limit(command)
        if not self.kind.lag:
            return [command] * 3, command
        # First-order lag solved exactly for a held command; `decay` (3, n) is exp(-t / lag).
        decay = self.data["decay"]
        tau = [command + (state["motor"] - command) * decay[k, :].T for k in range(3)]
        return tau, tau[2]

    def _limit(self, tau: Symbol) -> Symbol:
        """Torques within what the drives can exert."""
        if not self.kind.saturation:
            return tau
        # Not by fmin and fmax, which would make a limit of a command that is no number, and hide it.
        limit = self.data["limit"]
        return ca.if_else(tau > limit, limit, ca.if_else(tau < -limit, -limit, tau))

    def drive_torques(self, x: Symbol, v: Symbol, command: Symbol) -> Symbol:
        """Torques (n,) of the drives: the command itself, or what servos make of it at a state."""
        if not self.kind.servo:
            return command
        rows = {name: self.data["servo"][k, :].T for k, name in enumerate(SERVO_NAMES)}
        if self.kind.servo == "spring":
            rows["dead_band"] = ca.SX.zeros(self.arm.n)
        return self._limit(servo_torque(self.arm, x, v, command, **rows))

    # -- equations of motion ----------------------------------------------------------------------------

    def equations(self, x: Symbol, v: Symbol, tau: Symbol, instant: int) -> PlantEquations:
        """M and the torques that accelerate links and then the rotors of elastic joints, friction aside."""
        n, data, still = self.arm.n, self.data, ca.SX.zeros(self.arm.n)
        outside = {"base_motion": data["base_motion"][instant]} if "base_motion" in data else {}
        if "" in self.kind.wrench:
            outside["wrench"] = self.wrench("", instant)
        q, qd, sprung = x[:n], v[:n], self.link_torques(x, v, tau)
        M = mass_matrix(self.arm, q, theta=data["theta"])
        at_links = sprung + self.touch(q, qd)
        for frame in filter(None, self.kind.wrench):
            force, R = self.wrench(frame, instant), link_frames(self.arm, q)[self.arm.frame(frame)[0]][0]
            R = ca.mtimes(R, self.arm.frame(frame)[1][:3, :3])
            turned = ca.vertcat(ca.mtimes(R, force[:3]), ca.mtimes(R, force[3:]))
            at_links = at_links + ca.mtimes(jacobian(self.arm, q, frame=frame).T, turned)
        net = at_links - inverse_dynamics(
            self.arm, q, qd, still, **outside, theta=data["theta"], gravity=data["gravity"]
        )
        if not self.kind.rotors:
            return self._at_shafts(M, net)
        drive = ca.SX(data["drive"])
        inertia, damping = (DRIVE_NAMES.index(name) for name in ("inertia", "damping"))
        for k, i in enumerate(self.kind.elastic):
            M = ca.diagcat(M, drive[i, inertia])
            net = ca.vertcat(net, tau[i] - sprung[i] - drive[i, damping] * v[n + k])
            drive[i, inertia] = drive[i, damping] = 0
        M[:n, :n] += drive_inertia(self.arm, drive)
        net[:n] -= drive_torque(self.arm, q, qd, still, drive=drive)
        return self._at_shafts(M, net)

    def _at_shafts(self, M: Symbol, net: Symbol) -> PlantEquations:
        """Equations of the joints as those of the shafts: C'^-1 M C^-1 and C'^-1 net. Elastic joints have none."""
        if self.arm.coupling is None:
            return PlantEquations(M, net)
        half = shaft_torques(self.arm, M)
        return PlantEquations(shaft_torques(self.arm, half.T).T, shaft_torques(self.arm, net))

    def contacts(self, q: Symbol, qd: Symbol) -> list[tuple[Symbol, Symbol]]:
        """Forces on the points that touch, in base axes, and the Jacobians of these points."""
        return contact_forces(self.arm, self.kind, self.data, q, qd) if self.kind.surfaces else []

    def wrist(self, q: Symbol, qd: Symbol) -> Symbol:
        """Return what an ideal sensor at the wrist shows (6,), in tip axes: contacts beyond it, the wrench, the
        tool.
        """
        data, R = self.data, tip_frame(self.arm, q)[0]
        forces = [force for force, _ in self.contacts(q, qd)]
        places = [data["points"][k, :].T for k in range(len(forces))]
        outside = wrench_at_tip(self.arm, q, list(zip(self.kind.touching, places, forces, strict=True)))
        reading = ca.vertcat(ca.mtimes(R.T, outside[:3]), ca.mtimes(R.T, outside[3:]))
        if "" in self.kind.wrench:
            reading = reading + self.wrench("", 0)
        tool = ca.vertcat(data["wrist"], ca.SX.zeros(6))
        return reading + free_reading(tool, R, data["gravity"])

    def wrench(self, frame: str, instant: int) -> Symbol:
        """The wrench (6,) at a frame, in its axes."""
        k = 6 * self.kind.wrench.index(frame)
        return self.data["wrench"][instant, k : k + 6].T

    def touch(self, q: Symbol, qd: Symbol) -> Symbol:
        """Joint torques (n,) of contacts and end stops."""
        tau = ca.SX.zeros(self.arm.n)
        for force, J in self.contacts(q, qd):
            tau = tau + ca.mtimes(J.T, force)
        return tau + stop_torques(self.data["stops"], q, qd) if self.kind.stops else tau

    def link_torques(self, x: Symbol, v: Symbol, tau: Symbol) -> Symbol:
        """Return the part of the drives' torques that reaches the links, (n,): through springs where joints are
        elastic.
        """
        n, at_links = self.arm.n, ca.SX(self.drive_torques(x, v, tau))
        for k, i in enumerate(self.kind.elastic):
            spring, plays = self.data["springs"][k, :], i in self.kind.backlash
            at_links[i] = spring_torque(x[n + k] - x[i], v[n + k] - v[i], spring, plays)
        return at_links

    @property
    def rubbing(self) -> list[int]:
        """For every joint the entry of positions that its friction acts on: its link, or its rotor."""
        kind, n = self.kind, self.arm.n
        rotors = {i: n + k for k, i in enumerate(kind.elastic)} if kind.motor_friction else {}
        return [rotors.get(i, i) for i in range(n)]

    def _spread(self, values: Symbol, others: float) -> Symbol:
        """A number per joint, (n,), at the entries that friction acts on; `others` elsewhere."""
        spread = others * ca.SX.ones(self.arm.n + len(self.kind.elastic))
        spread[self.rubbing] = values
        return spread

    def _speeds(self, v: Symbol) -> Symbol:
        """Velocities (n,) of the drives' shafts, at which friction acts."""
        return at_drives(self.arm, v[self.rubbing])

    def _sliding(self, x: Symbol, v: Symbol, tau: Symbol, ways: Symbol) -> Symbol:
        """Friction torques (n,) of drives' shafts that slide in given directions, joints that follow them included."""
        arm, at, load = self.arm, self.rubbing, self.link_torques(x, v, tau)
        joints = joint_frictions(arm, x[at], v[at], self._friction, load=load)
        if arm.G is None:
            return ca.vertcat(*(joint.sliding(ways[i]) for i, joint in enumerate(joints)))
        of_drive = dict(zip(arm.coordinate_indices, range(arm.n), strict=True))
        every = [ways[of_drive[i]] if i in of_drive else direction(x.v, self._blur) for i, x in enumerate(joints)]
        torques = ca.vertcat(*(joint.sliding(way) for joint, way in zip(joints, every, strict=True)))
        return shaft_torques(arm, joint_torques(arm, torques))

    @property
    def _blur(self) -> float:
        """Width of the smooth stand-in for dry friction."""
        # Under a constraint: which of several joints sticks is not determined there.
        return FRICTION_WIDTH if self.kind.friction == "blurred" else 0.0

    def acceleration(self, x: Symbol, v: Symbol, tau: Symbol, instant: int, slip: Slip | None) -> Symbol:
        """Accelerations of links and of elastic joints' rotors, those of what sticks zero."""
        if self.kind.constraint is not None:
            return self.constrained(x, v, tau, instant)[0]
        return from_shafts(self.arm, self._solve(self.equations(x, v, tau, instant), x, v, tau, slip))

    def _stage(self, x: Symbol, v: Symbol, tau: Symbol, instant: int, slip: Slip | None) -> Symbol:
        """The same of a stage, compiled once for all of them."""
        if self.kind.wrench or self.kind.base_motion:  # other data at every instant
            return self.acceleration(x, v, tau, instant, slip)

        def formula(x: Symbol, v: Symbol, tau: Symbol, *slip: Symbol) -> Symbol:
            return self.acceleration(x, v, tau, instant, Slip(*slip) if slip else None)

        return call_stage(formula, x, v, tau, *(slip or ()))

    def _solve(self, equations: PlantEquations, x: Symbol, v: Symbol, tau: Symbol, slip: Slip | None) -> Symbol:
        """Accelerations of the equations under friction."""
        M, net = equations.M, self._after_friction(equations.net, x, v, tau, slip)
        return factorize(M).solve(net) if slip is None else _solve_moving(M, net, self._spread(slip.moving, 1.0))

    def _after_friction(self, net: Symbol, x: Symbol, v: Symbol, tau: Symbol, slip: Slip | None) -> Symbol:
        """Torques that accelerate, friction of what slides taken off."""
        if self.kind.friction == "none":
            return net
        sliding = direction(self._speeds(v), self._blur) if slip is None else slip.direction
        return net - self._spread(self._sliding(x, v, tau, sliding), 0.0)

    def constrained(self, x: Symbol, v: Symbol, tau: Symbol, instant: int) -> tuple[Symbol, Symbol]:
        """Accelerations under a constraint, and its multipliers."""
        n, constraint = self.arm.n, self.kind.constraint
        assert constraint is not None
        M, net = self.equations(x, v, tau, instant)
        A = jacobian_of(self.arm, x[:n], constraint)
        rate = CONSTRAINT_RATE_TIMES_STEP / self.data["dt"] if "dt" in self.data else 0.0
        wanted = wanted_acceleration(self.arm, x[:n], v[:n], constraint, A, rate)
        A = shaft_torques(self.arm, ca.horzcat(A, ca.SX.zeros(A.shape[0], len(self.kind.elastic))).T).T
        a, multipliers = solve_constrained(M, self._after_friction(net, x, v, tau, None), A, wanted)
        return from_shafts(self.arm, a), multipliers

    def margins(self, x: Symbol, v: Symbol, tau: Symbol, slip: Slip) -> tuple[Symbol, Symbol]:
        """Return how far joints that stick (n,) are from breaking away forward and backward; negative: held no
        longer.
        """
        forward, backward = self._breakaway(x, v, tau)
        M, net = equations = self.equations(x, v, tau, 0)
        holding = (net - ca.mtimes(M, self._solve(equations, x, v, tau, slip)))[self.rubbing]
        return forward - holding, holding - backward

    def _runge_kutta(
        self, x: Symbol, v: Symbol, tau: list[Symbol], slip: Slip | None, h: Symbol
    ) -> tuple[Symbol, Symbol]:
        """Kutta's classical method on positions and velocities."""
        a1 = self._stage(x, v, tau[0], 0, slip)
        v2 = v + h / 2 * a1
        a2 = self._stage(x + h / 2 * v, v2, tau[1], 1, slip)
        v3 = v + h / 2 * a2
        a3 = self._stage(x + h / 2 * v2, v3, tau[1], 1, slip)
        v4 = v + h * a3
        a4 = self._stage(x + h * v3, v4, tau[2], 2, slip)
        return x + h / 6 * (v + 2 * (v2 + v3) + v4), v + h / 6 * (a1 + 2 * (a2 + a3) + a4)

    # -- sticking ---------------------------------------------------------------------------------------

    @property
    def _friction(self) -> Symbol:
        """The joints' friction; without Stribeck's curve static is Coulomb friction and no exponential remains."""
        friction = ca.SX(self.data["friction"])
        if not self.kind.stribeck:
            friction[:, FRICTION_NAMES.index("static")] = friction[:, FRICTION_NAMES.index("coulomb")]
        return friction

    def _breakaway(self, x: Symbol, v: Symbol, tau: Symbol) -> tuple[Symbol, Symbol]:
        """Torques beyond which joints at rest move forward and backward."""
        load = self.link_torques(x, v, tau)
        return breakaway_torque(self.arm, x[self.rubbing], load=load, friction=self._friction)

    def is_dry(self, x: Symbol, v: Symbol, tau: Symbol) -> Symbol:
        """Return which joints (n,) can stick at all."""
        forward, backward = self._breakaway(x, v, tau)
        return forward > backward

    def _slip(self, x: Symbol, v: Symbol, tau: Symbol, state: Values) -> Slip | None:
        """Return which joints move in this step: those that did, and those that break away now."""
        if self.kind.friction != "dry":
            return None
        direction, dry = state["direction"], self.is_dry(x, v, tau)
        stuck = ca.logic_and(dry, direction == 0)
        above, below = self.margins(x, v, tau, Slip(1 - stuck, direction))
        away = (above < 0) - (below < 0)
        direction = ca.if_else(stuck, away, ca.if_else(dry, direction, ca.sign(self._speeds(v))))
        return Slip(ca.if_else(stuck, ca.fabs(away), 1), direction)

    def _stop(
        self, x: Symbol, v: Symbol, x1: Symbol, v1: Symbol, slip: Slip, dry: Symbol
    ) -> tuple[Symbol, Symbol, Symbol]:
        """Positions, velocities and directions after a step in which joints whose velocity changed sign stop."""
        at, h = self.rubbing, self.data["dt"]
        q, qd, q1, qd1 = x[at], self._speeds(v), x1[at], self._speeds(v1)
        stop = ca.logic_and(dry, slip.direction * qd1 < 0)
        # The instant of rest, were the deceleration constant: q + qd t / 2, t = h qd / (qd - qd1).
        way = h * qd * qd / (2 * (qd - qd1))
        x1, v1 = ca.SX(x1), ca.SX(v1)
        if self.arm.coupling is None:
            x1[at] = ca.if_else(stop, ca.if_else(qd * slip.direction > 0, q + way, q), q1)
        else:  # shafts that stopped went less far, and joints with them; where none did not a bit changes
            short = ca.if_else(stop, ca.if_else(qd * slip.direction > 0, way, 0) - at_drives(self.arm, q1 - q), 0)
            x1[at], qd1 = q1 + from_shafts(self.arm, short), slip.moving * qd1  # without round-off of what sticks
        v1[at] = from_shafts(self.arm, ca.if_else(stop, 0, qd1))
        return x1, v1, ca.if_else(stop, 0, slip.direction)


def _solve_moving(M: Symbol, net: Symbol, moving: Symbol) -> Symbol:
    """Accelerations of the joints that move while the others are held: rows and columns of the latter are 1's."""
    n = M.shape[0]
    masked = ca.SX(M)
    for i in range(n):
        for j in range(i + 1):
            masked[i, j] = moving[i] * moving[j] * M[i, j]
        masked[i, i] = moving[i] * M[i, i] + (1 - moving[i])
    return factorize(masked).solve(moving * net)
