"""python3 -m unittest"""

import json
import os
import subprocess
import unittest
from http.client import HTTPException
from pathlib import Path
from urllib.request import Request, urlopen

from client import is_allowed

POLICIES = Path(__file__).parent.parent / "policies"


class ClientTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program = os.environ.get("CONFORMANCE", "conformance")
        cls.process = subprocess.Popen(
            [program, "mock", "--exit-on-stdin-close", POLICIES],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        cls.mock = json.loads(cls.process.stdout.readline())

    @classmethod
    def tearDownClass(cls):
        # Its input is closed, which ends it.
        cls.process.communicate()

    def setUp(self):
        self.admin("POST", "/reset")

    def admin(self, method, path):
        with urlopen(Request(self.mock["admin"] + path, method=method)) as answer:
            return answer.read()

    def test_a_decision_is_asked_for_as_the_document_says(self):
        self.assertIs(is_allowed(self.mock["engine"], "ann"), True)
        [request] = json.loads(self.admin("GET", "/requests"))["requests"]
        self.assertEqual(request["path"], "/v1/data/authz/allow")
        self.assertEqual(request["json"], {"input": {"user": "ann"}})

    def test_undefined_is_no_permission(self):
        self.assertIs(is_allowed(self.mock["engine"], "bob"), False)
        self.admin("PUT", "/faults/undefined")
        self.assertIs(is_allowed(self.mock["engine"], "ann"), False)

    def test_what_is_broken_is_an_error(self):
        for fault in ["internal-error", "broken-json", "cut-body", "close", "hang"]:
            with self.subTest(fault):
                self.admin("POST", "/reset")
                self.admin("PUT", f"/faults/{fault}")
                with self.assertRaises((OSError, HTTPException, ValueError)):
                    is_allowed(self.mock["engine"], "ann")


if __name__ == "__main__":
    unittest.main()
