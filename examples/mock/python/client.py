"""The client that is tested: asks whether a user may do something."""

import json
from urllib.request import Request, urlopen


def is_allowed(engine, user):
    request = Request(
        f"{engine}/v1/data/authz/allow",
        data=json.dumps({"input": {"user": user}}).encode(),
        headers={"Content-Type": "application/json"},
    )
    # A status that is none of 2xx raises.
    with urlopen(request, timeout=1) as answer:
        # Undefined is no result at all, and no permission.
        return json.load(answer).get("result") is True
