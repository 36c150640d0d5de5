"""An adapter for `conformance shim`: decisions by rego-cpp, by its Python package regopy."""

import json
import os
import sys

from regopy import Interpreter, RegoError


class Invalid(Exception):
    """The policies cannot be compiled."""


def decide(question):
    rego = Interpreter()
    rego.strict_built_in_errors = question.get("strict_builtin_errors", False)
    try:
        for name, text in question["modules"].items():
            rego.add_module(name, text)
    except RegoError as error:
        raise Invalid(str(error)) from error
    rego.add_data(question["data"])
    if "input" in question:
        rego.set_input(question["input"])
    steps = "".join(f"[{json.dumps(step)}]" for step in question["path"])
    output = rego.query(f"found = data{steps}")
    if not output.ok():
        raise RegoError("the query failed")
    if str(output) == "undefined":
        return {}
    return {"result": json.loads(str(output))["bindings"]["found"]}


def main():
    # The library prints errors to standard output, which is for answers alone.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        try:
            answer = decide(json.loads(line))
        except Invalid as error:
            answer = {"error": {"code": "invalid_parameter", "message": str(error)}}
        except RegoError as error:
            answer = {"error": {"message": str(error)}}
        print(json.dumps(answer), file=answers, flush=True)


main()
