# Written by tools/write_stubs.py from the tables in __init__.py: change these, not this file.

from armdyn.identification.estimators.data import Data as Data
from armdyn.identification.estimators.data import Estimate as Estimate
from armdyn.identification.estimators.errors_in_variables import InstrumentalVariables as InstrumentalVariables
from armdyn.identification.estimators.errors_in_variables import TotalLeastSquares as TotalLeastSquares
from armdyn.identification.estimators.least_squares import LeastSquares as LeastSquares
from armdyn.identification.estimators.least_squares import Reweighted as Reweighted
from armdyn.identification.estimators.online import KalmanEstimator as KalmanEstimator
from armdyn.identification.estimators.online import Lms as Lms
from armdyn.identification.estimators.online import RecursiveLeastSquares as RecursiveLeastSquares
from armdyn.identification.estimators.online_code import online_code as online_code
from armdyn.identification.estimators.output_error import Didim as Didim
from armdyn.identification.estimators.ridge import Ridge as Ridge
from armdyn.identification.estimators.significance import Significance as Significance
from armdyn.identification.estimators.significance import perturbation_bound as perturbation_bound
from armdyn.identification.estimators.significance import sensitivities as sensitivities

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
