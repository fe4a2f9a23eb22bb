"""The lazy door to CasADi."""

import sys
import types

import casadi

from armdyn.trace.symbols import is_symbol


def test_symbols_are_told_from_numbers():
    assert is_symbol(casadi.SX.sym("x"))
    assert is_symbol(casadi.MX.sym("x"))
    assert not is_symbol(1.0)


def test_nothing_is_a_symbol_while_another_thread_imports_casadi(monkeypatch):
    monkeypatch.setitem(sys.modules, "casadi", types.ModuleType("casadi"))
    assert not is_symbol(1.0)
