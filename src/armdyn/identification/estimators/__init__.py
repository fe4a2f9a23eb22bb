"""Estimators: one family per file, settings in the constructor, `fit(data) -> Estimate`."""

from armdyn.exports import export

export(
    __name__,
    {
        "data": "Data Estimate",
        "errors_in_variables": "InstrumentalVariables TotalLeastSquares",
        "least_squares": "LeastSquares Reweighted",
        "online": "KalmanEstimator Lms RecursiveLeastSquares",
        "online_code": "online_code",
        "output_error": "Didim",
        "ridge": "Ridge",
        "significance": "perturbation_bound sensitivities Significance",
    },
)
