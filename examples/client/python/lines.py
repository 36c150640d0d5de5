"""What every adapter does: a line is read, a line is written."""

import inspect
import json
import sys


class Unsupported(Exception):
    """What a client cannot do, or not with one of these members."""


def joined(path):
    """The segments as one text, for clients that take one."""
    if any("/" in segment for segment in path):
        raise Unsupported
    return "/".join(path)


def failure(error):
    """An error as the client raised it, with its status where it tells one."""
    told = {"kind": type(error).__name__, "message": str(error)}
    status = getattr(getattr(error, "response", None), "status_code", None)
    return {"error": told | ({"status": status} if status else {})}


def answer(operations, ask):
    """Asks the method with the operation's name; its parameters are the members that it knows."""
    name = ask.pop("do")
    method = getattr(operations, name, None)
    if method is None or set(ask) - set(inspect.signature(method).parameters):
        return {"unsupported": True}
    try:
        return method(**ask)
    except Unsupported:
        return {"unsupported": True}
    except Exception as error:
        return failure(error)


def serve(operations):
    for line in sys.stdin:
        print(json.dumps(answer(operations, json.loads(line))), flush=True)
