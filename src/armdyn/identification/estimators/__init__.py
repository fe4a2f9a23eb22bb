"""Estimators: one family a file, settings in the constructor, `fit(data) -> Estimate`."""

from armdyn.identification.estimators.data import Data, Estimate
from armdyn.identification.estimators.errors_in_variables import InstrumentalVariables, TotalLeastSquares
from armdyn.identification.estimators.least_squares import LeastSquares, Reweighted
from armdyn.identification.estimators.online import KalmanEstimator, Lms, RecursiveLeastSquares
from armdyn.identification.estimators.online_code import online_code
from armdyn.identification.estimators.output_error import Didim
from armdyn.identification.estimators.ridge import Ridge
from armdyn.identification.estimators.significance import Significance, perturbation_bound, sensitivities

__all__ = [
    "Data",
    "Didim",
    "Estimate",
    "InstrumentalVariables",
    "KalmanEstimator",
    "LeastSquares",
    "Lms",
    "RecursiveLeastSquares",
    "Reweighted",
    "Ridge",
    "Significance",
    "TotalLeastSquares",
    "online_code",
    "perturbation_bound",
    "sensitivities",
]
