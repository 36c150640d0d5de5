"""What callers of `opa-python-client` see of a server.

Arguments: `sync` or `async`, the server's host and port, and a folder for files. Each case is one
line of JSON: its name, and its result, or of its error the class, status and code.
"""

import asyncio
import inspect
import json
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

from opa_client import create_opa_client

MODE, HOST, PORT, FOLDER = sys.argv[1:]
IS_ASYNC = MODE == "async"

MODULE = """package app.abac

import data.people

# Whoever is listed.
default allow := false

allow if input.user in people.list

allow if {
	some role in people.roles[input.user]
	role == "admin"
}

reasons contains sprintf("%s is an admin", [user]) if some user, "admin" in people.grants

limit(user) := 10 if user == "ann"

else := 5
"""
OLD_MODULE = "package app.old\n\nallow {\n\tinput.user == \"ann\"\n}\n\ndeny[msg] {\n\tmsg := \"no\"\n}\n"
PEOPLE = {
    "list": ["ann", "bob"],
    "roles": {"eve": ["admin"]},
    "grants": {"eve": "admin", "bob": "user"},
}


def connect(**options):
    return create_opa_client(IS_ASYNC, host=HOST, port=int(PORT), timeout=20, **options)


async def done(value):
    """The value, or what it comes to in the other mode."""
    return await value if inspect.isawaitable(value) else value


async def opened(**options):
    client = connect(**options)
    if IS_ASYNC:
        await client._init_session()
    return client


async def closing(options, act):
    client = await opened(**options)
    try:
        return await done(act(client))
    finally:
        await done(client.close_connection())


def failure(error):
    """What of an error callers look at. Texts are for people, and differ."""
    told = {"class": type(error).__name__}
    status = getattr(getattr(error, "response", None), "status_code", None)
    status = status or getattr(error, "status", None)
    if status:
        told["status"] = status
    expression = getattr(error, "expression", None)
    if expression:
        told["code"] = expression
    errors = getattr(error, "errors", None)
    if errors:
        rows = [(one["code"], one.get("location", {}).get("row")) for one in errors]
        told["errors"] = [{"code": code, "row": row} for code, row in rows]
    return told


async def case(name, act):
    line = {"case": name}
    try:
        line["result"] = await done(act())
    except Exception as error:
        line["error"] = failure(error)
    print(json.dumps(line, sort_keys=True, ensure_ascii=False), flush=True)


def publish(text):
    """Serves a text to those who fetch a policy; its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/policy.rego"


async def policies(client):
    file = Path(FOLDER, f"{MODE}.rego")
    file.write_text(MODULE.replace("app.abac", "app.file"), encoding="utf-8")
    address = publish(MODULE.replace("app.abac", "app.fetched"))
    put = client.update_policy_from_string
    await case("policies/put", lambda: put(MODULE, "abac"))
    await case("policies/put-again", lambda: put(MODULE, "abac"))
    await case("policies/put-in-folder", lambda: put(MODULE.replace("abac", "b"), "a/b.rego"))
    await case("policies/put-file", lambda: client.update_policy_from_file(str(file), "file"))
    await case("policies/put-no-file", lambda: client.update_policy_from_file("/none.rego", "none"))
    await case("policies/put-url", lambda: client.update_policy_from_url(address, "fetched"))
    await case("policies/put-old", lambda: put(OLD_MODULE, "old"))
    await case("policies/put-old-strictly", lambda: put(OLD_MODULE, "old2", rego_compat=False))
    await case("policies/put-empty", lambda: put("", "empty"))
    await case("policies/put-no-module", lambda: put("# nothing", "empty"))
    await case("policies/put-malformed", lambda: put("package p\n\nallow if {", "malformed"))
    await case("policies/put-unsafe", lambda: put("package p\n\nallow if x == 1", "unsafe"))
    await case("policies/put-unknown", lambda: put("package p\n\nallow if nope(1)", "unknown"))
    await case("policies/put-recursive", lambda: put("package p\n\np if q\n\nq if p", "recursive"))
    await case("policies/put-type-error", lambda: put("package p\n\np if 1 == \"1\"", "types"))
    await case("policies/put-wrong-package", lambda: put("package a.b\n\np := 1\n\np(x) := 1", "arity"))
    await case("policies/list", lambda: listed(client))
    await case("policies/info", lambda: informed(client))
    await case("policies/get", lambda: renamed(client.get_policy("abac")))
    await case("policies/get-in-folder", lambda: renamed(client.get_policy("a/b.rego")))
    await case("policies/get-none", lambda: client.get_policy("none"))
    await case("policies/to-file", lambda: saved(client, "abac"))
    await case("policies/to-file-none", lambda: saved(client, "none"))
    await case("policies/delete", lambda: client.delete_policy("fetched"))
    await case("policies/delete-again", lambda: client.delete_policy("fetched"))
    await case("policies/delete-none", lambda: client.delete_policy("none"))


async def renamed(policy):
    """The policy with its local variables counted, as their names depend on all policies."""
    names = {}
    count = lambda found: names.setdefault(found.group(), f"local {len(names)}")
    return json.loads(re.sub(r"__local\d+__", count, json.dumps(await done(policy))))


async def listed(client):
    return sorted(Path(name).name for name in await done(client.get_policies_list()))


async def informed(client):
    info = await done(client.get_policies_info())
    prefix = f"http://{HOST}:{PORT}"
    told = {Path(name).name: one for name, one in info.items()}
    for one in told.values():
        one["path"] = one["path"].removeprefix(prefix)
        one["rules"] = sorted(rule.removeprefix(prefix) for rule in one["rules"])
    return told


async def saved(client, name):
    await done(client.policy_to_file(name, path=FOLDER, filename="saved.rego"))
    return Path(FOLDER, "saved.rego").read_text(encoding="utf-8")


async def data(client):
    put, get, patch = client.update_or_create_data, client.get_data, client.patch_data
    await case("data/put", lambda: put(PEOPLE, "people"))
    await case("data/put-deep", lambda: put({"x": {"y": [1, 2.5, "ü", None]}}, "deep/er/est"))
    await case("data/put-no-object", lambda: put([1], "list"))
    await case("data/put-on-rule", lambda: put({"a": 1}, "app/abac/allow"))
    await case("data/put-in-scalar", lambda: put({"a": 1}, "deep/er/est/x/y/0/z"))
    await case("data/get", lambda: get("people"))
    await case("data/get-member", lambda: get("deep/er/est/x/y/3"))
    await case("data/get-item", lambda: get("deep/er/est/x/y/2"))
    await case("data/get-none", lambda: get("none"))
    await case("data/get-out-of-range", lambda: get("deep/er/est/x/y/9"))
    await case("data/get-rule", lambda: get("app/abac/reasons"))
    await case("data/get-package", lambda: get("app/abac"))
    await case("data/get-metrics", lambda: names_of(get("people", query_params={"metrics": True})))
    await case("data/get-pretty", lambda: get("people/list", query_params={"pretty": True}))
    await case("data/get-provenance", lambda: names_of(get("people", query_params={"provenance": True})))
    await case("data/patch-add", lambda: patch("people", [{"op": "add", "path": "/list/-", "value": "dan"}]))
    await case("data/patch-replace", lambda: patch("people", [{"op": "replace", "path": "/roles/eve", "value": []}]))
    await case("data/patch-remove", lambda: patch("people", [{"op": "remove", "path": "/list/0"}]))
    await case("data/patch-none", lambda: patch("people", [{"op": "remove", "path": "/none"}]))
    await case("data/patch-unknown", lambda: patch("people", [{"op": "spin", "path": "/list"}]))
    await case("data/patch-no-list", lambda: patch("people", {"op": "add"}))
    await case("data/patch-nothing", lambda: patch("people", []))
    await case("data/patched", lambda: get("people"))
    await case("data/delete", lambda: client.delete_data("deep/er"))
    await case("data/delete-again", lambda: client.delete_data("deep/er"))
    await case("data/deleted", lambda: get("deep"))
    await case("data/restore", lambda: put(PEOPLE, "people"))


async def names_of(answer):
    """The answer with what is never the same twice left out."""
    answer = await done(answer)
    metrics = answer.pop("metrics", None)
    provenance = answer.pop("provenance", None)
    if metrics is not None:
        answer["has metrics"] = "timer_server_handler_ns" in metrics
    if provenance is not None:
        answer["has provenance"] = "version" in provenance
    if "explanation" in answer:
        answer["explanation"] = bool(answer["explanation"])
    return answer


async def supported(compiled):
    """What is left of a query, of the modules that it refers to only the heads of their rules."""
    result = (await done(compiled))["result"]
    for module in result["support"]:
        module["rules"] = sorted(rule["head"]["name"] for rule in module["rules"])
    return result


async def checks(client):
    rule, query, bulk = client.query_rule, client.ad_hoc_query, client.bulk_query_rule
    await case("rule/allowed", lambda: rule({"user": "ann"}, "app.abac", "allow"))
    await case("rule/denied", lambda: rule({"user": "mallory"}, "app.abac", "allow"))
    await case("rule/by-role", lambda: rule({"user": "eve"}, "app.abac", "allow"))
    await case("rule/package", lambda: rule({"user": "ann"}, "app.abac"))
    await case("rule/undefined", lambda: rule({}, "app.abac", "none"))
    await case("rule/null", lambda: rule({}, "values", "nothing"))
    await case("rule/false", lambda: rule({}, "values", "lie"))
    await case("rule/null-input", lambda: rule(None, "values", "echo"))
    await case("rule/upgraded", lambda: rule({"user": "ann"}, "app.old"))
    await case("rule/conflict", lambda: rule({"conflict": True}, "values", "conflict"))
    await case("rule/strict", lambda: rule({"divisor": 0}, "values", "broken", {"strict-builtin-errors": True}))
    await case("rule/metrics", lambda: names_of(rule({"user": "ann"}, "app.abac", "allow", {"metrics": True})))
    await case("rule/explain", lambda: names_of(rule({"user": "ann"}, "app.abac", "allow", {"explain": "full"})))
    await case("query/bindings", lambda: query("x := data.people.list[_]"))
    await case("query/true", lambda: query("data.people.list[0] == \"ann\""))
    await case("query/false", lambda: query("data.people.list[0] == \"eve\""))
    await case("query/input", lambda: query("input.a == 1; y = input.b", {"a": 1, "b": [2]}))
    await case("query/several", lambda: query("a = data.people.list[i]; b = count(a)"))
    await case("query/metrics", lambda: names_of(query("x = 1", query_params={"metrics": True})))
    await case("query/malformed", lambda: query("x = "))
    await case("query/unsafe", lambda: query("x > 1"))
    await case("query/empty", lambda: query(""))
    inputs = {"one": {"user": "ann"}, "two": {"user": "mallory"}}
    await case("bulk/named", lambda: bulk(inputs, "app.abac", "allow"))
    await case("bulk/listed", lambda: bulk(list(inputs.values()), "app.abac", "allow"))
    await case("bulk/none", lambda: bulk([], "app.abac", "allow"))
    await case("bulk/undefined", lambda: bulk(inputs, "app.abac", "none"))
    await case("bulk/conflict", lambda: bulk([{"conflict": True}], "values", "conflict"))
    await case("bulk/bad-name", lambda: bulk(inputs, "app.a-b", "allow"))
    compiled = client.compile_query
    await case("compile/conditions", lambda: compiled("data.app.abac.allow == true", unknowns=["input.user"]))
    await case("compile/never", lambda: compiled("input.user == \"ann\"", {"user": "bob"}, ["data.none"]))
    await case("compile/always", lambda: compiled("input.user == \"ann\"", {"user": "ann"}, ["data.none"]))
    await case("compile/nothing-unknown", lambda: compiled("input.x == 1", unknowns=[]))
    await case("compile/default-unknowns", lambda: compiled("input.x > 1"))
    await case("compile/not-inlined", lambda: supported(compiled("data.app.abac.allow", options={"disableInlining": ["data.app.abac.allow"]})))
    await case("compile/malformed", lambda: compiled("x = "))


async def server(client):
    async def metrics(*names):
        text = await done(client.get_metrics())
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        return {name: any(line.startswith(name) for line in lines) for name in names}

    async def config():
        result = (await done(client.get_config()))["result"]
        result["labels"] = sorted(result.get("labels", {}))
        return result

    await case("connection", lambda: client.check_connection())
    await case("health", lambda: client.check_health())
    await case("health/bundles", lambda: client.check_health({"bundles": True}))
    await case("health/plugins", lambda: client.check_health({"bundles": True, "plugins": True}))
    await case("health/live", lambda: client.check_health(diagnostic_url=f"http://{HOST}:{PORT}/health/live"))
    await case("health/nowhere", lambda: client.check_health(diagnostic_url="http://127.0.0.1:1/health"))
    await case("ready", lambda: client.wait_for_ready(timeout=5))
    await case("config", config)
    await case("status", lambda: client.get_status())
    await case("metrics/http", lambda: metrics("http_request_duration_seconds_bucket", "http_request_duration_seconds_count"))
    await case("metrics/process", lambda: metrics("process_cpu_seconds_total", "process_resident_memory_bytes"))
    await case("metrics/go", lambda: metrics("go_info", "go_goroutines"))
    token, wrong = {"token": "letmein"}, {"token": "wrong"}
    ask = lambda client: client.query_rule({}, "guarded", "by_token")
    await case("token/none", lambda: ask(client))
    await case("token/right", lambda: closing(token, ask))
    await case("token/wrong", lambda: closing(wrong, ask))
    await case("token/data", lambda: closing(wrong, lambda client: client.get_data("guarded/by_token")))
    blue = {"headers": {"X-Team": "blue"}}
    await case("header/right", lambda: closing(blue, lambda client: client.query_rule({}, "guarded", "by_header")))
    await case("header/none", lambda: client.query_rule({}, "guarded", "by_header"))
    await case("unreachable", lambda: closing({"retries": 0, "version": "v9"}, lambda client: client.check_connection()))


async def main():
    client = await opened()
    for part in (policies, data, checks, server):
        await part(client)
    await done(client.close_connection())


asyncio.run(main())
