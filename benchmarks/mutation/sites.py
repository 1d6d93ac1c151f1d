"""Small faults for a Python source: where they can be put, and the source with one of them."""

import ast
from collections.abc import Iterator
from typing import NamedTuple


class Mutation(NamedTuple):
    """One fault: the part of the source that is replaced, and by what."""

    line: int
    column: int
    end_line: int
    end_column: int
    kind: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{_short(self.before)} -> {_short(self.after)}"


OPERATORS: dict[type, tuple[type, str]] = {
    ast.Add: (ast.Sub, "+ to -"),
    ast.Sub: (ast.Add, "- to +"),
    ast.Mult: (ast.Div, "* to /"),
    ast.Div: (ast.Mult, "/ to *"),
    ast.Pow: (ast.Mult, "** to *"),
    ast.MatMult: (ast.Mult, "@ to *"),
    ast.FloorDiv: (ast.Mult, "// to *"),
}
COMPARISONS: dict[type, type] = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
FUNCTIONS = {
    "exp": "log",
    "log": "exp",
    "log1p": "log",
    "sqrt": "square",
    "maximum": "minimum",
    "minimum": "maximum",
    "max": "min",
    "min": "max",
    "mean": "sum",
    "sum": "mean",
    "std": "var",
    "var": "std",
    "abs": "positive",
    "ones_like": "zeros_like",
    "zeros_like": "ones_like",
    "ones": "zeros",
    "zeros": "ones",
    "argmax": "argmin",
    "tanh": "sin",
    "gammaln": "abs",
    "sigmoid": "tanh",
    "softplus": "abs",
    "reversed": "list",
}


def mutations(source: str) -> list[Mutation]:
    """Every fault that can be put into a source, in the order of its lines.

    Left out: docstrings, annotations, defaults of arguments and fields (they are settings), what is
    raised, and text.

    Examples
    --------
    >>> [str(m) for m in mutations("y = 2 * x")][:2]
    ['2 * x -> 2', '2 * x -> 2 / x']
    """
    found = set()
    for node in _code(ast.parse(source)):
        part = node.test if isinstance(node, ast.If) else node
        for kind, other in _faults(node):
            before = ast.get_source_segment(source, part)
            if before is not None:
                place = (part.lineno, part.col_offset, part.end_lineno, part.end_col_offset)
                found.add(Mutation(*place, kind, before, ast.unparse(other)))
    return sorted(found)


def mutated(source: str, mutation: Mutation) -> str:
    """The source with one fault.

    Examples
    --------
    >>> source = "y = 2 * x"
    >>> [mutated(source, m) for m in mutations(source)][:2]
    ['y = (2)', 'y = (2 / x)']
    """
    lines = source.encode().splitlines(keepends=True)  # the parser counts columns in bytes
    first, last = mutation.line - 1, mutation.end_line - 1
    head = b"".join(lines[:first]) + lines[first][: mutation.column]
    tail = lines[last][mutation.end_column :] + b"".join(lines[last + 1 :])
    after = mutation.after if mutation.after == "pass" else f"({mutation.after})"
    changed = (head + after.encode() + tail).decode()
    ast.parse(changed)
    return changed


def _code(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that compute something."""
    if isinstance(node, (ast.Raise, ast.JoinedStr, ast.Import, ast.ImportFrom, ast.Assert)):
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    yield node
    if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
        children: list[ast.AST] = list(node.body)
    elif isinstance(node, ast.AnnAssign):
        children = []
    else:
        children = list(ast.iter_child_nodes(node))
    for child in children:
        yield from _code(child)


def _faults(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """What a node can be replaced by."""
    if isinstance(node, ast.BinOp):
        yield from _of_product_or_sum(node)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "sign", node.operand
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "negation", node.operand
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        other = COMPARISONS[type(node.ops[0])]()
        yield "comparison", ast.Compare(node.left, [other, *node.ops[1:]], node.comparators)
    elif isinstance(node, ast.BoolOp):
        other_op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "and, or", ast.BoolOp(other_op, node.values)
    elif isinstance(node, ast.IfExp):
        yield "condition", ast.IfExp(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
    elif isinstance(node, ast.Constant):
        yield from _of_constant(node)
    elif isinstance(node, ast.Call):
        yield from _of_call(node)
    elif isinstance(node, ast.Attribute) and node.attr == "T":
        yield "no transpose", node.value
    elif _can_be_left_out(node):
        yield "statement left out", ast.Pass()
    elif isinstance(node, ast.If):
        yield "condition", ast.UnaryOp(ast.Not(), node.test)


def _of_product_or_sum(node: ast.BinOp) -> Iterator[tuple[str, ast.AST]]:
    if type(node.op) in OPERATORS:
        other, name = OPERATORS[type(node.op)]
        yield name, ast.BinOp(node.left, other(), node.right)
    if isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div)):
        yield "right side left out", node.left
    if isinstance(node.op, (ast.Add, ast.Mult)):
        yield "left side left out", node.right


def _of_constant(node: ast.Constant) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node.value, bool):
        yield "constant", ast.Constant(not node.value)
    elif isinstance(node.value, int):
        yield "constant", ast.Constant(node.value + 1)
    elif isinstance(node.value, float):
        yield "constant", ast.Constant(2 * node.value if node.value else 1.0)


def _of_call(node: ast.Call) -> Iterator[tuple[str, ast.AST]]:
    function, arguments = node.func, node.args
    if isinstance(function, ast.Attribute) and function.attr in FUNCTIONS:
        other = ast.Attribute(function.value, FUNCTIONS[function.attr], ast.Load())
        yield "another function", ast.Call(other, arguments, node.keywords)
    elif isinstance(function, ast.Name) and function.id in FUNCTIONS:
        other_name = ast.Name(FUNCTIONS[function.id], ast.Load())
        yield "another function", ast.Call(other_name, arguments, node.keywords)
    plain = not any(isinstance(a, ast.Starred) for a in arguments)
    if len(arguments) >= 2 and plain:
        swapped = [*arguments[:-2], arguments[-1], arguments[-2]]
        yield "arguments swapped", ast.Call(function, swapped, node.keywords)
    if node.keywords and all(k.arg != "axis" for k in node.keywords):
        yield "argument left out", ast.Call(function, arguments, node.keywords[:-1])
    if len(arguments) == 1 and plain and not node.keywords:
        yield "call left out", arguments[0]


def _can_be_left_out(node: ast.AST) -> bool:
    """Whether the rest still runs: a call, or names that are assigned and stand on the right."""
    if isinstance(node, ast.Assign):
        parts = [n for target in node.targets for n in ast.walk(target)]
        names = {n.id for n in parts if isinstance(n, ast.Name)}
        used = {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}
        return bool(names) and names <= used
    return isinstance(node, ast.AugAssign) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    )


def _short(text: str, limit: int = 70) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"
