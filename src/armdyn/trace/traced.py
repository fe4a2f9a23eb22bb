"""`@traced`: a formula written once over symbols, callable with numbers.

    @traced(returns={"tau": "n"})
    def some_torque(arm: Arm, q: Q, load: Vec = None, model: str = "full", *, theta: Theta = None) -> Array:

* shapes are annotations, `Annotated[Any, "n"]` or a name for it (`armdyn.model.quantities`); a single result is named
  in the decorator, several are the fields of the NamedTuple that the formula says it returns;
* positional parameters with a shape are data; with the default None they are optional, and a call without them runs
  a variant in which they do not exist;
* keyword-only parameters are data bound from the subject (`subject.trace_data(name)`) unless given;
* parameters without a shape are options: hashable values that select a variant; shapes may mention an
  option that is an integer, or has a length, such as a tuple.

The formula sees CasADi `SX` columns (matrices where two axes are declared, lists of matrices where three are) and
returns one symbol per output. Its annotations are what callers with numbers see; callers with symbols get symbols.
"""

from __future__ import annotations

import functools
import inspect
from collections import namedtuple
from collections.abc import Callable, Collection, Mapping, Sized
from typing import Any, NamedTuple, ParamSpec, Protocol, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ArmdynError, ShapeError
from armdyn.trace.docstring import complete
from armdyn.trace.function import function_type
from armdyn.trace.numeric import Runner
from armdyn.trace.program import Port, Program, as_list, unflatten
from armdyn.trace.shapes import DataShape, annotation_of, data_of, evaluate, fields_of, shape_text
from armdyn.trace.symbols import ca, is_symbol

MAX_PROGRAMS = 64  # remembered per function

P = ParamSpec("P")
R = TypeVar("R", covariant=True)


class Subject(Protocol):
    """Object that a formula is about (an arm): sizes, a key for its constants, data bound by name."""

    @property
    def trace_sizes(self) -> Mapping[str, int]: ...  # noqa: D102
    @property
    def trace_key(self) -> str: ...  # noqa: D102
    def trace_data(self, name: str) -> NDArray: ...  # noqa: D102


class Variant(NamedTuple):
    """Inputs that are present and options that are chosen."""

    inputs: tuple[str, ...]
    options: tuple[tuple[str, Any], ...] = ()


class TracedFunction(Protocol[P, R]):
    """A traced function as type checkers see it: the formula's parameters and result, and `out` and `threads`."""

    traced: Traced
    __name__: str

    @overload
    def __call__(self, *args: P.args, **keywords: P.kwargs) -> R: ...
    @overload
    def __call__(self, subject: Any, /, *args: Any, out: Any, threads: int | None = None, **keywords: Any) -> R: ...
    @overload
    def __call__(self, subject: Any, /, *args: Any, threads: int | None, **keywords: Any) -> R: ...


def traced(
    *,
    returns: Mapping[str, str] | None = None,
    check: Callable[[Any, Collection[str]], None] | None = None,
    redescribable: bool = False,
    **shapes: str,
) -> Callable[[Callable[P, R]], TracedFunction[P, R]]:
    """Make a formula over symbols callable with arrays; see `docs/traced-functions.md`.

    `returns` is the shape of the output by its name, as text: `"n"`, `"6, n"`, `"10*n"`; without it the formula's
    return annotation is a NamedTuple whose fields declare theirs. `shapes` are those of inputs that are not annotated.
    `check` gets the subject and the names of the data bound from it, and raises if these will not do. `redescribable`
    says that the result is the same for every description of the subject, so that code may be printed from
    `subject.plainest()`, a description with fewer operations.
    """

    def decorate(formula: Callable[P, R]) -> TracedFunction[P, R]:
        return Traced(formula, shapes, returns, check, redescribable).public()

    return decorate


class Traced:
    """The declaration behind a traced function; reach it as `function.traced`."""

    def __init__(
        self,
        formula: Callable[..., Any],
        shapes: Mapping[str, str],
        returns: Mapping[str, str] | None = None,
        check: Callable[[Any, Collection[str]], None] | None = None,
        redescribable: bool = False,
    ) -> None:
        self.formula = formula
        self.redescribable = redescribable
        self.check = check
        self.name = formula.__name__
        self.module = formula.__module__
        self.signature = inspect.signature(formula)
        parameters = list(self.signature.parameters.values())[1:]
        self.inputs = self._inputs(parameters, shapes)
        self.shapes = {name: data.shape for name, data in self.inputs.items()}
        self.bound = tuple(p.name for p in parameters if p.kind is p.KEYWORD_ONLY)
        data = [p for p in parameters if p.name in self.shapes and p.name not in self.bound]
        self.required = tuple(p.name for p in data if p.default is p.empty)
        self.optional = tuple(p.name for p in data if p.default is None)
        self.options = {p.name: p.default for p in parameters if p.name not in self.shapes}
        self.positional = tuple(p.name for p in parameters if p.kind is not p.KEYWORD_ONLY)
        self.order = (*self.required, *self.optional, *self.bound)
        unknown = set(self.shapes) - set(self.order)
        if unknown or not set(self.bound) <= set(self.shapes):
            raise TypeError(f"traced {self.name}: shapes and parameters do not match ({unknown or self.bound})")
        self.returns, self.result = self._results(returns)
        self.doc = self._documentation()
        self._programs: dict[tuple[str, Variant], Program] = {}
        self.plain_variant = self.variant(dict.fromkeys(self.required), self.options)
        self.runner = Runner(self)

    def _inputs(self, parameters: list[inspect.Parameter], shapes: Mapping[str, str]) -> dict[str, DataShape]:
        """Return the declaration of each input, in the decorator or as an annotation."""
        inputs = {name: DataShape(shape) for name, shape in shapes.items()}
        for p in parameters:
            data = data_of(annotation_of(self.formula, p.name))
            if data is not None:
                inputs.setdefault(p.name, data)
        return inputs

    def _results(self, returns: Mapping[str, str] | None) -> tuple[dict[str, str], Any]:
        """Shapes of the outputs by name, and the NamedTuple of several."""
        kind = annotation_of(self.formula, "return")
        if returns is None:
            shapes = fields_of(kind) if hasattr(kind, "_fields") else {}
            if not shapes or tuple(shapes) != kind._fields:
                raise TypeError(
                    f"traced {self.name}: expected returns={{name: shape}}, or as the return type a NamedTuple with "
                    f"annotated shapes, got {kind!r}"
                )
            return shapes, kind
        name = self.name.title().replace("_", "")
        return dict(returns), namedtuple(name, tuple(returns)) if len(returns) > 1 else None  # type: ignore[misc]

    # -- the public function --------------------------------------------------------------------------

    def public(self) -> Any:
        """The function that users call; one for which native code is known is called without passing through here."""
        fast_paths, call = self.runner.fast_paths, self.call

        def python(subject: Any, /, *args: Any, **keywords: Any) -> Any:
            short = fast_paths.get(id(subject))
            return call(subject, args, keywords) if short is None else short(*args, **keywords)

        function: Any = functools.wraps(self.formula)(function_type()(python))
        self.runner.function = function
        function.__doc__ = self.doc
        function.__signature__ = self._signature()
        function.traced = self
        return function

    def _signature(self) -> inspect.Signature:
        """The formula's signature as callers see it: bound data optional, `out` and `threads` added."""
        old = self.signature
        parameters = [p.replace(default=None) if p.kind is p.KEYWORD_ONLY else p for p in old.parameters.values()]
        extra = [inspect.Parameter(k, inspect.Parameter.KEYWORD_ONLY, default=None) for k in ("out", "threads")]
        return old.replace(parameters=[*parameters, *extra])

    def _documentation(self) -> str:
        """The formula's docstring with the types, shapes and words of what is declared."""
        words = {}
        for p in self.signature.parameters.values():
            data = self.inputs.get(p.name)
            if data is None:
                words[p.name] = (p.annotation if isinstance(p.annotation, str) else "", "")
            else:
                kind = f"array_like, shape {shape_text(data.shape)}"
                words[p.name] = (kind if p.name in self.required else f"{kind}, optional", data.text)
        return complete(self.formula.__doc__, words, self.returns)

    def call(self, subject: Subject, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Sort the arguments, then compute with numbers or symbols."""
        if not hasattr(subject, "trace_key"):
            raise ShapeError(where=self.name, expected="an arm as the first argument", got=f"{subject!r:.60}")
        out, threads = keywords.pop("out", None), keywords.pop("threads", None)
        values, options = self.sort_arguments(args, keywords)
        if any(is_symbol(v) or _has_symbol(v) for v in values.values()):
            return self.symbolic(subject, values, options)
        return self.wrap(self.runner(subject, values, options, out, threads))

    def sort_arguments(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Split a call's arguments into data by name (absent ones left out) and options."""
        if len(args) > len(self.positional):
            cause = f"{self.name}: takes at most {len(self.positional)} arguments after the arm, got {len(args)}"
            raise TypeError(cause)
        arguments = dict(zip(self.positional, args, strict=False))
        for name, value in keywords.items():
            if name in arguments:
                raise TypeError(f"{self.name}: got '{name}' twice")
            if name not in self.shapes and name not in self.options:
                known = ", ".join([*self.positional, *self.bound, "out", "threads"])
                raise TypeError(f"{self.name}: unknown argument '{name}'; expected {known}")
            arguments[name] = value
        missing = [name for name in self.required if arguments.get(name) is None]
        if missing:
            raise TypeError(f"{self.name}: missing {', '.join(missing)}")
        values = {name: arguments[name] for name in self.order if arguments.get(name) is not None}
        options = {name: arguments.get(name, default) for name, default in self.options.items()}
        return values, {name: _plain_option(v) for name, v in options.items()}

    def reject_unknown_options(self, where: str, options: Collection[str]) -> None:
        """Raise where an option is asked for that the formula does not have."""
        if unknown := sorted(set(options) - set(self.options)):
            listed = ", ".join(self.options) or "none"
            cause = f"{self.name} has no option {', '.join(unknown)}; it has {listed}"
            raise ArmdynError(cause, where=where, names=unknown)

    # -- tracing --------------------------------------------------------------------------------------

    def program(self, subject: Subject, variant: Variant) -> Program:
        """The formula traced for the subject's constants and a choice of inputs and options."""
        key = (subject.trace_key, variant)
        if key not in self._programs:
            if len(self._programs) >= MAX_PROGRAMS:
                self._programs.clear()
            self._programs[key] = self.make_program(subject, variant)
        return self._programs[key]

    def make_program(self, subject: Subject, variant: Variant, fold: bool | tuple[str, ...] = False) -> Program:
        """Like `program`, never remembered; with `fold` bound data (all, or those named) become constants."""
        sizes = self.sizes(subject, dict(variant.options))
        folded = fold if isinstance(fold, tuple) else self.bound if fold else ()
        names = [name for name in variant.inputs if name not in folded]
        constants = {name: ca.SX(ca.DM(subject.trace_data(name))) for name in folded}

        def formula(*symbols: Any) -> list[Any]:
            values = {**constants, **dict(zip(names, symbols, strict=True))}
            return as_list(self.formula(subject, **values, **dict(variant.options)), tuple(self.returns))

        inputs = tuple(Port(name, evaluate(self.shapes[name], sizes)) for name in names)
        outputs = tuple(Port(name, evaluate(shape, sizes)) for name, shape in self.returns.items())
        return Program(self.name, inputs, outputs, formula)

    def sizes(self, subject: Subject, options: Mapping[str, Any]) -> dict[str, int]:
        """Sizes that shapes may mention: the subject's, integer options, and lengths of options that have one."""
        counts = {k: v if isinstance(v, int) else len(v) for k, v in options.items() if isinstance(v, int | Sized)}
        return {**subject.trace_sizes, **counts}

    def chosen_program(
        self, subject: Subject, inputs: Collection[str], symbolic: Collection[str], options: Mapping[str, Any]
    ) -> Program:
        """The program with some optional inputs and options; bound data are folded in, but for those `kept`."""
        present = dict.fromkeys(name for name in self.order if name in self.required or name in inputs)
        chosen = {name: options.get(name, default) for name, default in self.options.items()}
        folded = tuple(name for name in self.bound if name not in symbolic)
        return self.make_program(subject, self.variant(present, chosen), fold=folded)

    def variant(self, values: Mapping[str, Any], options: Mapping[str, Any]) -> Variant:
        """The variant that a call with these values and options needs."""
        present = tuple(name for name in self.order if name in values or name in self.bound)
        return Variant(present, tuple(sorted(options.items())))

    def key(self, subject: Subject, variant: Variant, *more: str) -> str | None:
        """Return what tells kernels of the formula apart besides armdyn's own text.

        None where that text does not say it all, for a user's formula or option: those are known by their graph.
        """
        ours = self.module.split(".")[0] == "armdyn" and not any(callable(value) for _, value in variant.options)
        return repr((self.module, self.name, subject.trace_key, variant, *more)) if ours else None

    # -- symbols --------------------------------------------------------------------------------------

    def symbolic(self, subject: Subject, values: dict[str, Any], options: dict[str, Any]) -> Any:
        """SX in, SX out; MX embeds the same function."""
        for name in self.bound:
            if name not in values:
                values[name] = subject.trace_data(name)
        if any(isinstance(v, ca.MX) for v in values.values()):
            return self._embed(subject, values, options)
        sizes = self.sizes(subject, options)
        symbols = {name: self._symbol(sizes, name, value) for name, value in values.items()}
        return self.wrap(as_list(self.formula(subject, **symbols, **options), tuple(self.returns)))

    def _symbol(self, sizes: Mapping[str, int], name: str, value: Any) -> Any:
        """A value as a symbol of the declared shape."""
        shape = evaluate(self.shapes[name], sizes)
        if isinstance(value, (list, tuple)) and len(shape) == 2:
            value = ca.vertcat(*(ca.SX(v).T if ca.SX(v).shape[1] == 1 else ca.SX(v) for v in value))
        symbol = ca.SX(value) if is_symbol(value) else ca.SX(ca.DM(np.asarray(value, float)))
        rows, columns = (*shape, 1, 1)[:2]
        if symbol.shape == (columns, rows) != (rows, columns) and 1 in (rows, columns):
            symbol = symbol.T
        if symbol.shape != (rows, columns):
            raise ShapeError(where=self.name, expected=f"symbol {name} of shape ({rows}, {columns})", got=symbol.shape)
        return symbol

    def _embed(self, subject: Subject, values: dict[str, Any], options: dict[str, Any]) -> Any:
        """Call the traced function as one node of an MX graph (for `casadi.Opti`)."""
        program = self.program(subject, self.variant(values, options))
        flat = []
        for port in program.inputs:
            value = values[port.name]
            if isinstance(value, (list, tuple)):
                value = ca.vertcat(*(ca.MX(v).T for v in value))
            matrix = ca.MX(value) if is_symbol(value) else ca.MX(ca.DM(np.asarray(value, float)))
            flat.append(ca.vec(matrix.T) if len(port.shape) == 2 else ca.vec(matrix))
        results = program.function.call(flat)
        return self.wrap([unflatten(y, port.shape) for y, port in zip(results, program.outputs, strict=True)])

    def wrap(self, results: list[Any]) -> Any:
        """One result as it is, several as a NamedTuple."""
        return self.result(*results) if self.result else results[0]


def _plain_option(value: Any) -> Any:
    """An option's value in plain Python, so that equal ones select the same variant."""
    if isinstance(value, np.generic):
        return value.item()
    return tuple(value) if isinstance(value, list) else value


def _has_symbol(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and any(is_symbol(v) for v in value)
