// The shortest adapter: its client is a `fetch`, as many programs have one.

import { serve, value } from "./lines.mjs";

let url;
let headers;

await serve(
  {
    open({ api, url: address, token }) {
      if (api !== "engine") return { unsupported: true };
      url = address;
      headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
      return { value: { name: "fetch", version: process.versions.undici } };
    },
    async decide({ path, input }) {
      const body = JSON.stringify({ input });
      const response = await fetch(`${url}/v1/data/${path.map(encodeURIComponent).join("/")}`, { method: "POST", headers, body });
      if (!response.ok) throw Object.assign(new Error(await response.text()), { statusCode: response.status });
      const answer = await response.json();
      return value(answer.result);
    },
  },
  { open: ["api", "url", "token", "timeout"], decide: ["path", "input"] },
);
