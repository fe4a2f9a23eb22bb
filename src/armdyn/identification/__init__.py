"""Identification: logs in, models with honest confidence out."""

from armdyn.exports import export

export(
    __name__,
    {
        "drive_gains": "DriveGains identify_drive_gains",
        "fit.result": "Fit",
        "fit.validation": "validate",
        "hypotheses.check": "check_log",
        "hypotheses.finding": "Finding FindingKind",
        "identify": "identify",
        "logs.corrections": "LogCorrection",
        "logs.log": "Log",
        "logs.read_log": "read_log",
        "motion.differentiate": "differentiate",
        "options": "CorrectionOptions ModelOptions SmoothingOptions",
        "payload": "identify_payload",
        "springs": "identify_springs Springs",
        "wrench": "subtract_wrench",
    },
    subpackages="estimators",
)
