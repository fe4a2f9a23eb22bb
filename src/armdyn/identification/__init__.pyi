# Written by tools/write_stubs.py from the tables in __init__.py: change these, not this file.

from armdyn.identification import estimators as estimators
from armdyn.identification.drive_gains import DriveGains as DriveGains
from armdyn.identification.drive_gains import identify_drive_gains as identify_drive_gains
from armdyn.identification.fit.result import Fit as Fit
from armdyn.identification.fit.validation import validate as validate
from armdyn.identification.hypotheses.check import check_log as check_log
from armdyn.identification.hypotheses.finding import Finding as Finding
from armdyn.identification.hypotheses.finding import FindingKind as FindingKind
from armdyn.identification.identify import identify as identify
from armdyn.identification.logs.corrections import LogCorrection as LogCorrection
from armdyn.identification.logs.log import Log as Log
from armdyn.identification.logs.read_log import read_log as read_log
from armdyn.identification.motion.differentiate import differentiate as differentiate
from armdyn.identification.options import CorrectionOptions as CorrectionOptions
from armdyn.identification.options import ModelOptions as ModelOptions
from armdyn.identification.options import SmoothingOptions as SmoothingOptions
from armdyn.identification.payload import identify_payload as identify_payload
from armdyn.identification.springs import Springs as Springs
from armdyn.identification.springs import identify_springs as identify_springs
from armdyn.identification.wrench import subtract_wrench as subtract_wrench

__all__ = [
    "CorrectionOptions",
    "DriveGains",
    "Finding",
    "FindingKind",
    "Fit",
    "Log",
    "LogCorrection",
    "ModelOptions",
    "SmoothingOptions",
    "Springs",
    "check_log",
    "differentiate",
    "estimators",
    "identify",
    "identify_drive_gains",
    "identify_payload",
    "identify_springs",
    "read_log",
    "subtract_wrench",
    "validate",
]
