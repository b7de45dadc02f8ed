"""Drift detectors, for one stream of numbers, for every label, and for every label set."""

from estimators.drift.adwin import ADWIN
from estimators.drift.base import DriftDetector
from estimators.drift.ddm import DDM, EDDM
from estimators.drift.hddm import HDDMA, HDDMW
from estimators.drift.kswin import KSWIN
from estimators.drift.label_drift import LabelDrift
from estimators.drift.label_set_drift import LabelSetDrift
from estimators.drift.page_hinkley import PageHinkley

__all__ = [
    "ADWIN",
    "DDM",
    "EDDM",
    "HDDMA",
    "HDDMW",
    "KSWIN",
    "DriftDetector",
    "LabelDrift",
    "LabelSetDrift",
    "PageHinkley",
]
