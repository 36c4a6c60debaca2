import { describe, expect, it } from "vitest";
import { createHttpClient } from "../../src/connections/http/index.ts";
import { formatShape } from "../../src/core/format-shape.ts";
import { parseInput } from "../../src/engine/definition/parse-input.ts";
import { fixedSecrets } from "../../src/core/secret-source.ts";
import type { StepError } from "../../src/core/step-errors.ts";
import type { StepOutcome } from "../../src/core/step-type.ts";
import { httpStep } from "../../src/steps/http.ts";
import { parseConfig, stepErrorOf, mockHttpServer, sendJson } from "../support/mock-http-server.ts";
import { thrownBy } from "../support/callers.ts";
import { checkStep, runStep } from "../support/step-check.ts";

const world = {
  connections: {
    http: createHttpClient(
      parseConfig({
        http: { allowed_hosts: ["127.0.0.1"] },
        secrets: [{ name: "team_hook", key_var: "HOOK", hosts: ["127.0.0.1", "hooks.example.com"] }],
      }),
      fixedSecrets({ HOOK: "s3cr3t-value" }),
    ),
  },
};
const run = (written: object): Promise<StepOutcome> => runStep(httpStep, written, world);
const issues = async (written: object) => (await checkStep(httpStep, written, world)).issues;

const hasEffects = (more: object) => httpStep.hasEffects({ id: "a", type: "http", ...more });

/** The message and the fix of fields that have a wrong value. */
function failureOf(fields: object): unknown {
  const { message, options } = thrownBy(() =>
    parseInput({ type: httpStep }, { url: "http://127.0.0.1:1/", ...fields }),
  ) as StepError;
  return [message, options.fix === undefined ? {} : { fix: options.fix }];
}

const headers = (secret: string) => ({ "X-Key": { secret } });

describe("an http step", () => {
  it("returns status_code, headers and body", async () => {
    const peer = await mockHttpServer((_request, response) => sendJson(response, { a: [1] }, 201));
    expect(await run({ url: peer.url })).toMatchObject({
      kind: "done",
      output: { status_code: 201, headers: { "content-type": "application/json" }, body: { a: [1] } },
    });
    expect(peer.received).toMatchObject([{ method: "GET", path: "/", body: "" }]);
  });

  it("appends its query to that of the URL, which stays unchanged", async () => {
    const peer = await mockHttpServer((_request, response) => void response.end());
    const query = { q: "a b&c", list: [1, 2], yes: true, none: null };
    await run({ url: `${peer.url}/x?old=%20y#part`, query });
    await run({ url: `${peer.url}/x`, query: { a: 1 } });
    await run({ url: `${peer.url}/x?`, query: { a: 1 } });
    await run({ url: `${peer.url}/x?b=%20`, query: { a: null } });
    expect(peer.received.map((one) => one.path)).toEqual([
      "/x?old=%20y&q=a+b%26c&list=1&list=2&yes=true",
      "/x?a=1",
      "/x?a=1",
      "/x?b=%20",
    ]);
  });

  it.each([{ a: "\ud800" }, { a: ["b", "\udfff"] }, { "a\ud800": 1 }])(
    "refuses half a surrogate pair in its query %j, and in its url",
    async (query) => {
      const peer = await mockHttpServer((_request, response) => void response.end());
      await expect(run({ url: peer.url, query })).rejects.toMatchObject({
        code: "input_invalid",
        message: expect.stringMatching(/^query\.a.? contains half a surrogate pair/u),
      });
      await expect(run({ url: `${peer.url}/\ud800` })).rejects.toThrow("half a surrogate pair");
      expect(peer.received).toEqual([]);
    },
  );

  it.each([
    [304, {}, /^Add 304 to accept_status/],
    [302, { location: "https://example.com/" }, /headers\.location/],
    [300, {}, /^See the response in details\.body/],
  ])("says what to do with the status %d and the headers %j", async (status, sent, fix) => {
    const peer = await mockHttpServer((_request, response) => void response.writeHead(status, sent).end());
    expect((await stepErrorOf(run({ url: peer.url }))).options.fix).toMatch(fix);
  });

  it("sends the idempotency key with requests that have effects, unless the step sets its own", async () => {
    const peer = await mockHttpServer((_request, response) => void response.end());
    await run({ url: peer.url, method: "POST" });
    await run({ url: peer.url, method: "DELETE", headers: { "idempotency-KEY": "mine" } });
    await run({ url: peer.url, headers: { "X-HTTP-Method-Override": "DELETE" } });
    for (const method of ["GET", "HEAD", "OPTIONS"]) await run({ url: peer.url, method });
    expect(peer.received.map((one) => one.headers["idempotency-key"])).toEqual([
      "run:it:0:abc",
      "mine",
      "run:it:0:abc",
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("sends numbers and booleans in headers as text", async () => {
    const peer = await mockHttpServer((_request, response) => void response.end());
    await run({ url: peer.url, headers: { "X-Page": 5, "X-Dry-Run": true } });
    expect(peer.received[0]!.headers).toMatchObject({ "x-page": "5", "x-dry-run": "true" });
  });

  it.each([
    [null, "null", { fix: "Write a default for null in the expression, such as ${{ … ?? '' }}." }],
    [[1], "a list", {}],
  ])("says what a header or a parameter of its query may be, for %j", (value, got, more) => {
    const kinds = "must be text, a number, a boolean";
    expect(failureOf({ headers: { "X-A": value } })).toEqual([
      `headers.X-A ${kinds} or an object, got ${got}.`,
      more,
    ]);
    expect(failureOf({ query: { a: {} } })).toEqual([`query.a ${kinds}, null or a list, got an object.`, {}]);
  });

  it("sends a secret by its name", async () => {
    const peer = await mockHttpServer((request, response) =>
      sendJson(response, request.headers.authorization),
    );
    const sent = { Authorization: { secret: "team_hook", prefix: "Bearer " } };
    expect(await run({ url: peer.url, headers: sent })).toMatchObject({ output: { body: "Bearer ***" } });
    expect(peer.received[0]!.headers.authorization).toBe("Bearer s3cr3t-value");
  });

  it.each([
    [301, false],
    [400, false],
    [401, false],
    [404, false],
    [408, true],
    [409, false],
    [425, true],
    [429, true],
    [500, true],
    [503, true],
  ])("fails with http_status for %i; transient: %s", async (status, transient) => {
    const peer = await mockHttpServer((_request, response) =>
      sendJson(response, { error: "x".repeat(5_000) }, status),
    );
    const error = await stepErrorOf(run({ url: peer.url }));
    expect(error).toMatchObject({ code: "http_status", transient });
    expect(error.options.details).toMatchObject({
      status,
      body: expect.stringMatching(/^\{"error":"x{990}$/),
    });
    expect(error.message).toContain(String(status));
    expect(error.options.fix).toMatch(transient ? /temporary/ : /accept_status|secret|[Cc]heck/);
    expect(await run({ url: peer.url, accept_status: [status] })).toMatchObject({
      output: { status_code: status },
    });
  });

  it.each([
    ["7", 7_000],
    ["Sat, 21 Nov 2026 08:01:30 GMT", 90_000],
  ])("reads when to retry: %s", async (value, expected) => {
    const peer = await mockHttpServer((_request, response) =>
      sendJson(response, "", 503, { "retry-after": value, date: "Sat, 21 Nov 2026 08:00:00 GMT" }),
    );
    expect((await stepErrorOf(run({ url: peer.url }))).options.retryAfterMs).toBe(expected);
  });

  it.each([
    [{ "retry-after": "7" }, 403, 7_000],
    [{ "retry-after": "7" }, 404, 7_000],
    // Their clock is an hour fast.
    [{ "retry-after": "Sat, 21 Nov 2026 09:00:20 GMT", date: "Sat, 21 Nov 2026 09:00:00 GMT" }, 403, 20_000],
    [{ "x-ratelimit-remaining": "0", "x-ratelimit-reset": "30" }, 403, 30_000],
  ])("reads when to retry of %o with status %i, which a retry needs on for", async (sent, status, wait) => {
    const peer = await mockHttpServer((_request, response) => sendJson(response, "", status, sent));
    const error = await stepErrorOf(run({ url: peer.url }));
    expect([error.options.retryAfterMs, error.transient]).toEqual([wait, false]);
    expect(error.options.fix).toBe(
      `The server asks to try again in ${wait / 1_000} s. To do so, set retry: { attempts: 3, on: [http_status] }.`,
    );
  });

  it("shows an empty text for a failure without a body", async () => {
    const peer = await mockHttpServer((_request, response) => {
      response.writeHead(404, { "content-encoding": "gzip" });
      response.end();
    });
    const error = await stepErrorOf(run({ url: peer.url }));
    expect(error.options.details).toEqual({ status: 404, body: "" });
  });

  it("advises to check the secret for a 403 that does not ask to wait", async () => {
    const peer = await mockHttpServer((_request, response) =>
      sendJson(response, "", 403, { "x-ratelimit-remaining": "12", "x-ratelimit-reset": "30" }),
    );
    const error = await stepErrorOf(run({ url: peer.url }));
    expect([error.options.retryAfterMs, error.options.fix]).toEqual([
      undefined,
      "Check the secret in headers and its permissions.",
    ]);
  });

  it("limits the body to max_bytes, 1 MiB by default", async () => {
    const peer = await mockHttpServer((_request, response) => void response.end("x".repeat(1024 * 1024 + 1)));
    expect((await stepErrorOf(run({ url: peer.url }))).code).toBe("output_too_large");
    expect(await run({ url: peer.url, max_bytes: 1024 * 1024 + 1 })).toMatchObject({ kind: "done" });
    await expect(run({ url: peer.url, max_bytes: 5_000_000 })).rejects.toThrow("max_bytes");
  });

  it("has effects depending on its method", () => {
    expect(hasEffects({})).toBe(false);
    expect(hasEffects({ method: "HEAD" })).toBe(false);
    expect(hasEffects({ method: "POST" })).toBe(true);
    expect(hasEffects({ method: "${{ inputs.method }}" })).toBe(true);
  });

  it("returns the rows of CSV, whatever its content type", async () => {
    let sent = "id,name\n9007199254740993,Ada\n";
    const peer = await mockHttpServer((_request, response) => {
      response.writeHead(200, { "content-type": "application/octet-stream" });
      response.end(sent);
    });
    const rows = (more: object) => run({ url: peer.url, parse: "csv", ...more });
    expect(await rows({})).toMatchObject({ output: { body: [{ id: "9007199254740993", name: "Ada" }] } });
    sent = "id;name\r\n1;Müller";
    expect(await rows({ csv: { separator: ";", header: false } })).toMatchObject({
      output: {
        body: [
          ["id", "name"],
          ["1", "Müller"],
        ],
      },
    });
    sent = "";
    expect(await rows({})).toMatchObject({ output: { body: [] } });
    sent = "id\tname\n1";
    expect(await rows({ csv: { separator: "\t", ragged: "pad" } })).toMatchObject({
      output: { body: [{ id: "1", name: null }] },
    });
  });

  it("fails with what is wrong with CSV, its content type and its beginning", async () => {
    const peer = await mockHttpServer((_request, response) => {
      response.writeHead(200, { "content-type": "text/html" });
      response.end(`<a>s3cr3t-value</a>\n1,2\n${"x".repeat(500)}`);
    });
    const error = await stepErrorOf(run({ url: peer.url, parse: "csv" }));
    expect(error).toMatchObject({ code: "http_failed", transient: false });
    expect(error.message).toMatch(
      /^The response has the content type text\/html and can't be read as CSV: line 2 /,
    );
    expect(error.options.details).toEqual({
      line: 2,
      content_type: "text/html",
      starts_with: expect.stringMatching(/^<a>\*\*\*<\/a>\n1,2\nx{170,}$/) as string,
    });
  });

  it("returns an accepted status outside 2xx as it is, not as CSV", async () => {
    const peer = await mockHttpServer((_request, response) => sendJson(response, { error: 1 }, 404));
    expect(await run({ url: peer.url, parse: "csv", accept_status: [404] })).toMatchObject({
      output: { status_code: 404, body: { error: 1 } },
    });
  });

  it("accepts its own example", async () => {
    const { id: _id, type: _type, retry: _retry, ...fields } = httpStep.example;
    expect(await issues(fields)).toEqual([]);
  });
});

/** The type of the output of a step, as text. */
const outputType = async (more: object): Promise<string> => {
  const { output } = await checkStep(httpStep, { url: "https://example.com/", ...more }, world);
  return formatShape(output!);
};
const withBody = (body: string) =>
  `{status_code: number, headers: {set-cookie: [text], …: text}, body: ${body}}`;

describe("the check of an http step", () => {
  it.each([
    ["http://10.0.0.1/", "private_host"],
    ["http://10.0.0.1/${{ inputs.path }}", "private_host"],
    ["http://10.0.0.1?a=${{ inputs.a }}", "private_host"],
    ["nonsense", "wrong_format"],
    ["ftp://example.com/${{ inputs.path }}", "not_allowed"],
  ])("reports %s", async (url, code) => {
    expect(await issues({ url })).toMatchObject([{ path: ["url"], code }]);
  });

  it.each([
    ["${{ inputs.url }}"],
    ["http://${{ inputs.host }}/"],
    ["http://10.0.0.1${{ inputs.rest }}"],
    ["https://example.com/a"],
    ["http://127.0.0.1:80/${{ inputs.path }}"],
  ])("accepts %s", async (url) => {
    expect(await issues({ url })).toEqual([]);
  });

  it("reports a secret at the path of its header", async () => {
    expect(await issues({ url: "https://hooks.example.com/", headers: headers("team_hok") })).toMatchObject([
      { path: ["headers", "X-Key", "secret"], code: "unknown_secret", did_you_mean: "team_hook" },
    ]);
    expect(
      await issues({ url: "https://example.com/${{ inputs.x }}", headers: headers("team_hook") }),
    ).toMatchObject([{ path: ["headers", "X-Key", "secret"], code: "secret_not_for_host" }]);
    expect(await issues({ url: "${{ inputs.url }}", headers: headers("team_hook") })).toEqual([]);
  });

  it("knows the type of the body by parse", async () => {
    expect(await outputType({})).toBe(withBody("any"));
    expect(await outputType({ parse: "json" })).toBe(withBody("any"));
    expect(await outputType({ parse: "csv" })).toBe(withBody("[{…: text}]"));
    expect(await outputType({ parse: "csv", csv: { header: false } })).toBe(withBody("[[text]]"));
    expect(await outputType({ parse: "csv", csv: { ragged: "pad" } })).toBe(withBody("[{…: text or null}]"));
    expect(await outputType({ parse: "text", accept_status: [201] })).toBe(withBody("text"));
    expect(await outputType({ parse: "base64" })).toBe(withBody("{media_type: text, base64: text}"));
    expect(await outputType({ parse: "text", accept_status: [404] })).toBe(withBody("any"));
  });

  it("reports options of the body that have no effect", async () => {
    const url = "https://example.com/";
    const refused = { code: "not_allowed" };
    expect(await issues({ url, csv: {} })).toMatchObject([{ path: ["csv"], ...refused }]);
    expect(await issues({ url, parse: "json", csv: {} })).toMatchObject([{ path: ["csv"], ...refused }]);
    expect(await issues({ url, parse: "base64", charset: "utf-8" })).toMatchObject([
      { path: ["charset"], ...refused },
    ]);
    expect(await issues({ url, parse: "csv", csv: { separator: "\t" }, charset: "latin1" })).toEqual([]);
  });

  it("reports headers that can't be set", async () => {
    expect(await issues({ url: "https://example.com/", headers: { Host: "x", "A B": "y" } })).toMatchObject([
      { path: ["headers", "Host"] },
      { path: ["headers", "A B"] },
    ]);
  });

  it("reports objects in a form before it is sent", async () => {
    const form = { "Content-Type": "application/x-www-form-urlencoded" };
    const found = (body: unknown) => issues({ url: "https://example.com/", headers: form, body });
    expect(await found({ tag: ["a", "${{ inputs.tag }}"], user: { name: "Ada" } })).toMatchObject([
      { path: ["body", "user"], code: "wrong_type", fix: expect.stringContaining("user[city]") },
    ]);
    expect(await found("${{ inputs.form }}")).toEqual([]);
    expect(await issues({ url: "https://example.com/", body: { user: { name: "Ada" } } })).toEqual([]);
  });
});
