"""Eigenvalues of symmetric matrices of symbols are LAPACK's."""

from __future__ import annotations

import casadi
import numpy as np
import pytest

from armdyn.trace.graphs.symmetric import diagonal


@pytest.mark.parametrize("n", [1, 2, 4, 6])
def test_eigenvalues_and_vectors(n):
    A = casadi.SX.sym("A", n, n)
    values, V = diagonal(A, 7)
    found = casadi.Function("found", [A], [casadi.vertcat(*values), V])
    rng = np.random.default_rng(n)
    spread = rng.normal(size=(n, n))
    for matrix in (spread + spread.T, np.diag(np.arange(n) + 0.0), np.ones((n, n)), np.zeros((n, n))):
        w, v = (np.asarray(part) for part in found(matrix))
        np.testing.assert_allclose(np.sort(w[:, 0]), np.linalg.eigvalsh(matrix), atol=1e-12)
        np.testing.assert_allclose(v.T @ v, np.eye(n), atol=1e-13)
        np.testing.assert_allclose(v @ np.diag(w[:, 0]) @ v.T, matrix, atol=1e-12)
