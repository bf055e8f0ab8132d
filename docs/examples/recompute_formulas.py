"""How the formulas of a lineage are evaluated, and how JSON is written to be digested. For recompute.py, beside it."""
import functools
import json
import math
import re
from decimal import Decimal, ROUND_HALF_UP


def rounded(parts):
    """The parts, each rounded to the last place of the 12 significant digits of their sum; and the sum of those."""
    parts = [Decimal(part) for part in parts]
    for digits in (12, 11):  # rounding up can lift the sum into a 13th digit; then one place fewer is kept
        total = sum(parts)
        place = Decimal(1).scaleb(total.adjusted() - digits + 1) if total else Decimal(1)
        kept = [part.quantize(place, ROUND_HALF_UP) for part in parts]
        if sum(kept) <= 10**12 * place:
            return kept, sum(kept)


FUNCTIONS = {
    "min": min, "max": max, "exp": math.exp, "log2": math.log2, "ceil": math.ceil,
    "combined": lambda *ratios: math.exp(math.sqrt(sum(math.log(ratio) * math.log(ratio) for ratio in ratios))),
    "round": lambda x: math.floor(x + 0.5),
    "sum12": lambda *parts: float(rounded(parts)[1]),
    "part12": lambda n, *parts: float(rounded(parts)[0][int(n) - 1]),
}
LEVELS = [["and"], ["=", "<", ">", "<="], ["+", "-"], ["*", "/"], ["^"]]
OPERATORS = {
    "and": lambda a, b: a and b, "=": lambda a, b: a == b, "<": lambda a, b: a < b, ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b, "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "/": lambda a, b: a / b if b else math.nan, "^": lambda a, b: a**b,
}


TOKEN = re.compile(r"\d[\d.]*(?:e\d+)?|[A-Za-z_][\w@]*|<=|[-+*/^()?:,=<>]")


@functools.lru_cache(maxsize=None)
def tokens_of(formula):
    return TOKEN.findall(formula)


@functools.lru_cache(maxsize=None)
def names_in(formula):
    """The names that a formula needs a value of, in the order in which it has them first."""
    tokens = tokens_of(formula)
    others = {token for token, after in zip(tokens, tokens[1:]) if after == "("} | {"unknown", "and"}
    return list(dict.fromkeys(token for token in tokens if (token[0].isalpha() or token[0] == "_") and token not in others))


def evaluate(formula, names):
    """The value of a formula; None where an operand is unknown."""
    tokens = list(tokens_of(formula))

    def take(token):
        if tokens and tokens[0] == token:
            return tokens.pop(0)

    def choice():
        test = binary(0)
        if not take("?"):
            return test
        yes = choice()
        take(":")
        no = choice()
        return yes if test else no

    def binary(level):
        if level == len(LEVELS):
            return operand()
        left = binary(level + 1)
        while tokens and tokens[0] in LEVELS[level]:
            operator, right = OPERATORS[tokens.pop(0)], binary(level + 1)
            left = None if left is None or right is None else operator(left, right)
        return left

    def operand():
        token = tokens.pop(0)
        if token == "(":
            value = choice()
            take(")")
            return value
        if token[0].isdigit():
            return float(token)
        if token == "unknown":
            return None
        if not take("("):
            return names[token]
        values = [choice()]
        while take(","):
            values.append(choice())
        take(")")
        if token == "known_or":
            return values[1] if values[0] is None else values[0]
        if token == "at_most":
            return values[0] if None in values else min(values)
        return None if None in values else FUNCTIONS[token](*values)

    return choice()


def number_text(value):
    """A number as ECMAScript writes it, which is the form that RFC 8785 asks for."""
    if value == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(float(value))).normalize().as_tuple()
    digits, point = "".join(map(str, digits)), len(digits) + exponent
    if len(digits) <= point <= 21:
        text = digits + "0" * (point - len(digits))
    elif 0 < point <= 21:
        text = f"{digits[:point]}.{digits[point:]}"
    elif -6 < point <= 0:
        text = f"0.{'0' * -point}{digits}"
    else:
        text = digits[0] + (f".{digits[1:]}" if digits[1:] else "") + f"e{point - 1:+d}"
    return "-" * sign + text


def canonical(value):
    """JSON by RFC 8785: no spaces, the keys of every object in order of their UTF-16 units."""
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{canonical(key)}:{canonical(value[key])}" for key in keys) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number_text(value)
    return json.dumps(value, ensure_ascii=False)
