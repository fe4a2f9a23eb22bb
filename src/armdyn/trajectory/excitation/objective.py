"""The goal of an exciting motion: a criterion of the information that its samples hold."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.base.parameters import BaseParameters
from armdyn.trajectory.excitation.information import condition_numbers, evaluate
from armdyn.trajectory.excitation.regressor import base_choices, excitation_gradient, excitation_regressor
from armdyn.trajectory.excitation.series_space import States
from armdyn.trajectory.motion_limits import MotionLimits

SHARP = 1e3  # power of a soft maximum that is the maximum


@dataclass(frozen=True, eq=False)
class ExcitationObjective:
    """Criterion of states (N, n): positions, velocities and accelerations."""

    base: BaseParameters
    limits: MotionLimits  # within which the usual choices of base columns are told
    criterion: str
    unit_columns: bool
    robust: bool  # for the worst of the usual choices of base columns, or for that of `base` alone
    noise: NDArray  # (n,) relative standard deviations of the torques
    prior_information: NDArray | None = None  # information (c, c) that logs hold already

    @cached_property
    def forms(self) -> NDArray:
        """Choices of base columns (k, c, c); the first is that of `base`."""
        extra = 2 * self.base.source.n
        if not self.robust:
            return np.eye(self.base.count + extra)[None]
        return base_choices(self.base, self.limits, extra)

    @cached_property
    def row_weights(self) -> NDArray:
        """Weights (n, 1) of the rows of the regressor."""
        return (1 / self.noise)[:, None]

    def rows(self, states: tuple[NDArray, ...]) -> NDArray:
        """Weighted regressor rows (N n, c)."""
        W = excitation_regressor(self.base, *states) * self.row_weights
        return W.reshape(-1, W.shape[-1])

    def information(self, W: NDArray) -> NDArray:
        """The information matrix (c, c) of rows, with what the given logs hold."""
        return W.T @ W if self.prior_information is None else W.T @ W + self.prior_information

    def conditions(self, S: NDArray) -> NDArray:
        """Condition numbers of all choices of base columns."""
        return condition_numbers(S, self.forms, self.unit_columns)

    def value(self, states: States, forms: NDArray, power: float) -> tuple[float, States] | None:
        """The criterion, and its exact gradient (N, n) by each of the states; None where it is infinite."""
        W = self.rows(states)
        evaluation = evaluate(self.information(W), forms, self.criterion, power, self.unit_columns)
        if evaluation is None:
            return None
        # d f = sum(slope * dS), dS = dW' W + W' dW
        weights = (2 * W @ evaluation.slope).reshape(len(states[0]), self.base.source.n, -1) * self.row_weights
        return evaluation.value, excitation_gradient(self.base, *states, weights)

    def loss(self, S: NDArray) -> float:
        """Logarithm of the plain criterion for the worst choice of base columns; infinite where singular."""
        if self.criterion == "condition":
            return float(np.log(self.conditions(S).max()))
        evaluation = evaluate(S, self.forms[:1], self.criterion, SHARP, self.unit_columns)
        return np.inf if evaluation is None else evaluation.value
