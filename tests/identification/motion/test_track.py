"""Very long logs: windows that are spread over them are fitted to, and what is left out is said."""

from __future__ import annotations

import numpy as np

import armdyn
from armdyn.identification.motion import track
from armdyn.identification.motion.track import BAND_HZ, CUTOFF_HZ, Filters, all_tracks, tracks_of, windows


def test_windows_are_spread_over_long_logs(puma, make_log, monkeypatch):
    log = make_log(puma, duration=60.0)
    assert windows([log]) == [(0, log, slice(0, len(log)))]
    monkeypatch.setattr(track, "PIECE_SAMPLES", len(log) // 5)
    monkeypatch.setattr(track, "MAX_SAMPLES", int(31 / track.GRID_SECONDS))
    kept = windows([log])
    starts = np.array([part.start for _, _, part in kept]) / len(log)
    np.testing.assert_allclose(starts, np.arange(5) / 5, atol=1e-3)
    assert 25 < sum(part.stop - part.start for _, _, part in kept) * log.dt < 31
    filters = Filters(BAND_HZ, CUTOFF_HZ, "butterworth")
    assert sum(len(t.t) for t in tracks_of([log], filters)) < 0.6 * sum(len(t.t) for t in all_tracks([log], filters))


def test_what_is_left_out_is_said(puma, make_log, monkeypatch):
    log = make_log(puma, duration=60.0)
    whole = armdyn.identify(puma, log)
    assert not any("spread over" in note for note in whole.notes)
    monkeypatch.setattr(track, "PIECE_SAMPLES", len(log) // 4)
    monkeypatch.setattr(track, "MAX_SAMPLES", int(31 / track.GRID_SECONDS))
    fit = armdyn.identify(puma, log)
    (said,) = [note for note in fit.notes if "spread over" in note]
    assert "fitted to 30 s spread over the 60 s of motion" in said
    assert fit.rel_error < 1.5 * whole.rel_error


def test_a_track_keeps_no_samples_alive_but_its_own(two, make_log):
    log = make_log(two, rate=1000.0)
    (found,) = tracks_of([log], Filters(BAND_HZ, CUTOFF_HZ, "butterworth"))
    assert 4 * len(found.t) < len(log)
    assert all(x.base is None for x in (found.t, found.q, found.qd, found.qdd, found.tau))
