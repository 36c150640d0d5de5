"""The adapter of `opa-python`."""

from importlib.metadata import version

from opa import OPAClient
from opa.exceptions import DocumentNotFound, PolicyNotFound

from lines import Unsupported, joined, serve

NOTHING = object()
DETAILS = ("provenance", "metrics", "explanation", "decision_id")
# The names of its arguments are those of the operation but for one.
ARGUMENTS = {"provenance": "provenance", "metrics": "metrics", "instrument": "instrument",
             "explain": "explain", "strict_builtin_errors": "strict"}


def told(value):
    return {"undefined": True} if value is NOTHING else {"value": value}


def given(input):
    # It always sends an input; what it sends where none is given is null.
    return {} if input is NOTHING else {"input": input}


class Operations:
    client = None

    def open(self, api, url, token=None, timeout=None):
        if api != "engine":
            raise Unsupported
        self.client = OPAClient(url, token=token)
        if timeout is not None:
            self.client.timeout = timeout
        return {"value": {"name": "opa-python", "version": version("opa-python")}}

    def decide(self, path, input=NOTHING, options=None):
        if set(options or {}) - set(ARGUMENTS):
            raise Unsupported
        asked = {ARGUMENTS[name]: set_to for name, set_to in (options or {}).items()}
        try:
            answer = self.client.check_policy(joined(path), **given(input), **asked)
        except PolicyNotFound:
            return told(NOTHING)
        # Options that add to the answer make it hand the whole answer over.
        if not set(asked) - {"strict"}:
            return told(answer) | ({"details": {}} if asked else {})
        details = {name: answer[name] for name in DETAILS if name in answer}
        return told(answer.get("result", NOTHING)) | {"details": details}

    def decide_default(self, input=NOTHING):
        # The decision that it asks for has no input.
        if input is not NOTHING:
            raise Unsupported
        try:
            return told(self.client.get_default_policy())
        except PolicyNotFound:
            return told(NOTHING)

    def query(self, query, input=NOTHING):
        # Its input is no option: None is sent as null.
        answer = self.client.query(query, None if input is NOTHING else input)
        return told(answer.get("result", NOTHING))

    def get_data(self, path):
        try:
            return told(self.client.get_document(joined(path)))
        except DocumentNotFound:
            return told(NOTHING)

    def put_data(self, path, document):
        self.client.save_document(joined(path), document)
        return told(True)

    def delete_data(self, path):
        self.client.delete_document(joined(path))
        return told(True)

    def put_policy(self, id, policy):
        self.client.save_policy(id, policy)
        return told(True)

    def get_policy(self, id):
        return told(self.client.get_policy(id)["raw"])

    def list_policies(self):
        return told([policy["id"] for policy in self.client.list_policies()])

    def delete_policy(self, id):
        self.client.delete_policy(id)
        return told(True)

    def health(self, bundles=False, plugins=False, exclude=None):
        return told(self.client.check_health(bundles, plugins, exclude))

    def health_rule(self, rule):
        return told(self.client.check_custom_health_rule(rule))

    def config(self):
        return told(self.client.get_config())


serve(Operations())
