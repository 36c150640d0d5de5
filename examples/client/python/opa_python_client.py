"""The adapter of `opa-python-client`."""

from importlib.metadata import version
from urllib.parse import urlsplit

from opa_client.errors import PolicyNotFoundError
from opa_client.opa import OpaClient

from lines import Unsupported, joined, serve

NOTHING = object()
OPTIONS = {"provenance", "metrics", "instrument", "explain", "strict_builtin_errors"}


def told(value):
    return {"undefined": True} if value is NOTHING else {"value": value}


class Operations:
    client = None

    def open(self, api, url, token=None, timeout=None):
        address = urlsplit(url)
        # It takes a host and a port, so no path before those of the API.
        if api != "engine" or address.path:
            raise Unsupported
        settings = {} if timeout is None else {"timeout": timeout}
        self.client = OpaClient(host=address.hostname, port=address.port, token=token, **settings)
        return {"value": {"name": "opa-python-client", "version": version("opa-python-client")}}

    def decide(self, path, input=NOTHING, options=None):
        # Its input is no option: None is sent as null.
        given = None if input is NOTHING else input
        options = options or {}
        if set(options) - OPTIONS:
            raise Unsupported
        parameters = {name.replace("_", "-"): str(set_to).lower() for name, set_to in options.items()}
        answer = self.client.query_rule(given, joined(path), query_params=parameters)
        result = told(answer.pop("result", NOTHING))
        return result | ({"details": answer} if options else {})

    def decide_many(self, path, inputs):
        results = self.client.bulk_query_rule(inputs, ".".join(path))
        return {"value": {name: {"value": result} for name, result in results.items()}}

    def query(self, query, input=NOTHING):
        given = () if input is NOTHING else (input,)
        return told(self.client.ad_hoc_query(query, *given).get("result", NOTHING))

    def get_data(self, path):
        # Nothing there is an error that says no more of where it comes from than its text.
        try:
            return told(self.client.get_data(joined(path)).get("result", NOTHING))
        except PolicyNotFoundError as error:
            if "requested data not found" in str(error):
                return told(NOTHING)
            raise

    def put_data(self, path, document):
        return told(self.client.update_or_create_data(document, joined(path)))

    def patch_data(self, path, operations):
        return told(self.client.patch_data(joined(path), operations))

    def delete_data(self, path):
        return told(self.client.delete_data(joined(path)))

    def put_policy(self, id, policy):
        return told(self.client.update_policy_from_string(policy, id))

    def get_policy(self, id):
        return told(self.client.get_policy(id)["result"]["raw"])

    def list_policies(self):
        return told(self.client.get_policies_list())

    def delete_policy(self, id):
        return told(self.client.delete_policy(id))

    def partial(self, query, input=NOTHING, unknowns=None):
        given = None if input is NOTHING else input
        return told(self.client.compile_query(query, given, unknowns).get("result", NOTHING))

    def health(self, bundles=False, plugins=False):
        asked = {"bundles": bundles, "plugins": plugins}
        return told(self.client.check_health({name: True for name, is_asked in asked.items() if is_asked}))

    def config(self):
        return told(self.client.get_config()["result"])

    def status(self):
        return told(self.client.get_status()["result"])


serve(Operations())
