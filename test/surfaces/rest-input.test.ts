import { brotliCompressSync, constants, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { MAX_JSON_DEPTH } from "../../schemas/text.ts";
import { expectProblem, openRest } from "../support/rest.ts";

const JSON_TYPE = { "Content-Type": "application/json" };

/** Sends bytes unchanged. */
async function sendBytes(
  url: string,
  key: string,
  body: string | Buffer | ReadableStream,
  headers: Record<string, string> = JSON_TYPE,
) {
  const answer = await fetch(`${url}/workflows`, {
    method: "POST",
    headers: { "X-API-Key": key, ...headers },
    body,
    ...(body instanceof ReadableStream && { duplex: "half" }),
  });
  return { status: answer.status, headers: answer.headers, body: await answer.json() };
}

/** `{"a":{"a":…}}`, nested to a number of levels. */
const nested = (levels: number): string => `${'{"a":'.repeat(levels - 1)}{}${"}".repeat(levels - 1)}`;

describe("the errors of a body", () => {
  it("are reported all at once, each with its path and what to do", async () => {
    const { call } = await openRest();
    const answer = await call("POST", "/workflows", {
      nmae: "Weekly revenue",
      description: "x".repeat(10_001),
      tags: ["fine", "", 7, "y".repeat(51)],
      definition: 7,
      idempotency_key: "k",
      workflow_id: "w",
      reason: 3,
    });
    const { detail, errors } = expectProblem(answer, "invalid_input");
    const allowed = ["name", "id", "description", "tags", "definition", "from", "apply_fixes", "reason"];
    expect(errors).toEqual([
      {
        path: "nmae",
        code: "unknown_key",
        message: "is not a known field",
        allowed,
        did_you_mean: "name",
        fix: "Write name, or remove it.",
      },
      {
        path: "idempotency_key",
        code: "unknown_key",
        message: "is not a known field",
        allowed,
        fix: "Send it as the header Idempotency-Key.",
      },
      {
        path: "workflow_id",
        code: "unknown_key",
        message: "is not a known field",
        allowed,
        fix: "Remove it.",
      },
      { path: "name", code: "missing", message: "is required", fix: "Set it to text." },
      { path: "description", code: "too_long", message: "must be at most 10000 characters, got 10001" },
      { path: "tags[1]", code: "too_short", message: "must not be empty" },
      { path: "tags[2]", code: "wrong_type", message: "must be text, got a number" },
      { path: "tags[3]", code: "too_long", message: "must be at most 50 characters, got 51" },
      { path: "definition", code: "wrong_type", message: "must be an object, or YAML or JSON text" },
      { path: "reason", code: "wrong_type", message: "must be text, got a number" },
    ]);
    expect(detail).toContain("nmae is not a known field.");
    expect(detail).toContain("And 7 more, see errors.");
    expect((await call("GET", "/workflows")).body).toEqual([]);
  });

  it("name the header or the path for a field that belongs there", async () => {
    const { call } = await openRest();
    await call("POST", "/workflows", { name: "A" });
    const answer = await call("PATCH", "/workflows/a?reason=x", { if_match: 1, workflow_id: "a" });
    expect(expectProblem(answer, "invalid_input").errors).toMatchObject([
      { path: "if_match", fix: "Send it as the header If-Match." },
      { path: "workflow_id", fix: "Remove it: the path contains it already." },
      { path: "reason", fix: "Send it in the JSON body: this request has no query parameters." },
    ]);
  });

  it("are limited in number", async () => {
    const { call } = await openRest();
    const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`x${i}`, 1]));
    const answer = await call("POST", "/workflows", { ...many, name: 7 });
    const { errors } = expectProblem(answer, "invalid_input");
    expect(errors!.length).toBeLessThanOrEqual(101);
    expect(errors!.at(-1)).toMatchObject({ path: "name", code: "wrong_type" });
  });

  it.each([
    ["name", " \n\t"],
    ["tags", ["a", "a"]],
    ["tags", Array.from({ length: 21 }, (_, i) => `t${i}`)],
    ["tags", "a"],
    ["description", null],
    ["definition", []],
    ["reason", "x".repeat(1_001)],
  ])("are the same in PATCH and POST: %s", async (field, value) => {
    const { call } = await openRest();
    await call("POST", "/workflows", { name: "A" });
    for (const [method, path] of [
      ["POST", "/workflows"],
      ["PATCH", "/workflows/a"],
    ] as const) {
      const answer = await call(method, path, { name: "B", [field]: value });
      const { errors } = expectProblem(answer, "invalid_input");
      expect(errors).toHaveLength(1);
      expect(errors![0]!.path).toBe(field);
    }
    expect((await call("GET", "/workflows/a")).body).toMatchObject({ name: "A", version: 1 });
  });
});

describe("a body that is no JSON object", () => {
  it.each([
    "{",
    "",
    " ",
    "{'name': 'x'}",
    "name=x",
    "<x/>",
    '{"name":"x"}{',
    '{"name":"x",}',
    "\u0000",
    "NaN",
  ])("is refused with a problem, never HTML: %j", async (body) => {
    const { url, key } = await openRest();
    const answer = await sendBytes(url, key, body);
    // No body at all is an empty object, in which the name is missing.
    const { status } = expectProblem(answer, body === "" ? "invalid_input" : "invalid_json");
    expect(status).toBe(400);
  });

  it.each(["[]", "null", "1", '"text"', "true", '[{"name":"x"}]'])("is refused: %s", async (body) => {
    const { call } = await openRest();
    const { errors } = expectProblem(await call("POST", "/workflows", body), "invalid_input");
    expect(errors).toContainEqual({
      path: "",
      code: "wrong_type",
      message: "must be a JSON object",
      allowed: ["name", "id", "description", "tags", "definition", "from", "apply_fixes", "reason"],
    });
  });

  it.each([
    {},
    { "Content-Type": "" },
    { "Content-Type": "text/plain" },
    { "Content-Type": "application/x-www-form-urlencoded" },
    { "Content-Type": "multipart/form-data; boundary=x" },
    { "Content-Type": "application/jsonp" },
    { "Content-Type": "text/json" },
    { "Content-Type": "application/json; charset=latin1" },
    { "Content-Type": "application/json; charset=utf-7" },
    { "Content-Type": "application/json; charset=utf" },
    { "Content-Type": "application/json", "Content-Encoding": "compress" },
  ])("is refused with 415 because of its headers: %j", async (headers) => {
    const { url, key } = await openRest();
    const answer = await sendBytes(url, key, Buffer.from('{"name":"x"}'), headers);
    expect(expectProblem(answer, "unsupported_media_type").detail).toMatch(/body/);
  });

  it.each([
    "application/json",
    "application/json;charset=UTF-8",
    "application/json;charset=UTF8",
    'application/json; charset="utf8"',
    "application/json; Charset = uTf-8",
    "application/json; charset=",
    "Application/JSON ; x=y",
    "application/merge-patch+json",
  ])("is refused as %s", async (type) => {
    const { url, key } = await openRest();
    const answer = await sendBytes(url, key, Buffer.from('{"name":"x"}'), { "Content-Type": type });
    expect(answer.status).toBe(201);
  });

  it("is refused on DELETE, and ignored on GET", async () => {
    const { call } = await openRest();
    await call("POST", "/workflows", { name: "A" });
    const { errors } = expectProblem(await call("DELETE", "/workflows/a", { reason: "x" }), "invalid_input");
    expect(errors).toMatchObject([{ path: "", code: "unexpected_body", fix: "Use the query string." }]);
    expect((await call("GET", "/workflows/a")).body).toMatchObject({ status: "draft" });
  });
});

describe("a query", () => {
  it.each([
    ["status=draft&status=published", "status", "is in the query 2 times, and takes one value"],
    ["limit=1&limit=2&limit=3", "limit", "is in the query 3 times, and takes one value"],
    ["search=M%FCnchen", "search", "is not valid UTF-8 in the query string"],
  ])("never loses a value: %s", async (query, path, message) => {
    const { call } = await openRest();
    const { errors } = expectProblem(await call("GET", `/workflows?${query}`), "invalid_input");
    expect(errors).toMatchObject([{ path, message, fix: expect.any(String) }]);
  });
});

const LARGEST = 1024 * 1024;
/** A valid body of an exact size, in bytes. */
const ofSize = (bytes: number): string => {
  const frame = '{"name":"A","definition":{"a":""}}';
  return frame.replace('""', `"${"x".repeat(bytes - frame.length)}"`);
};

describe("the size of a body", () => {
  it("is at most 1 MiB, to the byte", async () => {
    const { call } = await openRest();
    expect((await call("POST", "/workflows", ofSize(LARGEST))).status).toBe(201);
    const { detail } = expectProblem(
      await call("POST", "/workflows", ofSize(LARGEST + 1)),
      "payload_too_large",
    );
    expect(detail).toContain("1 MiB");
  });

  it("is limited for chunked bodies too", async () => {
    const { url, key } = await openRest();
    let sent = 0;
    const chunks = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(Buffer.alloc(64 * 1024, " "));
        if ((sent += 64 * 1024) > LARGEST * 2) controller.close();
      },
    });
    const { detail } = expectProblem(await sendBytes(url, key, chunks), "payload_too_large");
    expect(detail).toContain("1 MiB");
  });

  it.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", (body: Buffer) => brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
  ] as const)("counts unpacked: a bomb in %s is refused, a small body taken", async (encoding, pack) => {
    const { url, key, call } = await openRest();
    const headers = { ...JSON_TYPE, "Content-Encoding": encoding };
    const small = await sendBytes(url, key, pack(Buffer.from('{"name":"packed"}')), headers);
    expect(small).toMatchObject({ status: 201, body: { name: "packed" } });
    const bomb = pack(Buffer.alloc(128 * LARGEST, " "));
    const before = process.memoryUsage().rss;
    expectProblem(await sendBytes(url, key, bomb, headers), "payload_too_large");
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * LARGEST);
    expectProblem(await sendBytes(url, key, Buffer.from("not packed"), headers), "invalid_request");
    expect((await call("GET", "/workflows")).body).toHaveLength(1);
  });
});

describe("text that can't be stored", () => {
  it.each(["name", "description", "reason"])(
    "NUL and half a surrogate pair are refused in %s",
    async (field) => {
      const { call } = await openRest();
      for (const bad of ["a\\u0000b", "a\\ud800", "\\udc00a"]) {
        const body = field === "name" ? `{"name":"${bad}"}` : `{"name":"A","${field}":"${bad}"}`;
        const { errors } = expectProblem(await call("POST", "/workflows", body), "invalid_input");
        expect(errors).toMatchObject([{ path: field, code: "invalid_text" }]);
      }
      expect((await call("GET", "/workflows")).body).toEqual([]);
    },
  );

  it("is refused, not replaced, when it is not UTF-8", async () => {
    const { url, key } = await openRest();
    const body = Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
    const { detail } = expectProblem(await sendBytes(url, key, body), "invalid_json");
    expect(detail).toContain("UTF-8");
  });

  it("excludes nothing else: other text is returned unchanged", async () => {
    const { call } = await openRest();
    const description = "Zürich 🦄 שלום ❤️ e\u0301 </script> ' \" \\ %00 \r\n\t ﷽";
    const { body } = await call("POST", "/workflows", { name: "A", description });
    expect(body.description).toBe(description);
    expect((await call("GET", "/workflows/a")).body.description).toBe(description);
  });
});

describe("a definition", () => {
  it("keeps keys that mean something in JavaScript, as data", async () => {
    const { call } = await openRest();
    const text = '{"constructor":{"prototype":{"polluted":1}},"toString":1,"a":{"hasOwnProperty":null}}';
    const created = await call("POST", "/workflows", `{"name":"A","definition":${text}}`);
    expect(created.status).toBe(201);
    for (const path of ["/workflows/a", "/workflows/a/versions/1"]) {
      expect(JSON.stringify((await call("GET", path)).body.definition)).toBe(text);
    }
    const listed = await call("GET", "/workflows?include=definition");
    expect(JSON.stringify(listed.body[0].definition)).toBe(text);
    await call("PATCH", "/workflows/a", { name: "B" });
    expect(JSON.stringify((await call("GET", "/workflows/a")).body.definition)).toBe(text);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it("is refused with __proto__, which could get lost or change prototypes", async () => {
    const { call } = await openRest();
    await call("POST", "/workflows", { name: "A", definition: {} });
    for (const [definition, path] of [
      ['{"__proto__":{"x":1}}', "definition.__proto__"],
      ['{"a":{"__proto__":null}}', "definition.a.__proto__"],
      ['"__proto__: {x: 1}"', "definition.__proto__"],
    ] as const) {
      const answer = await call("PATCH", "/workflows/a", `{"definition":${definition}}`);
      const { errors } = expectProblem(answer, "invalid_input");
      expect(errors!.map((issue) => `${issue.path} ${issue.code}`)).toContain(`${path} not_allowed`);
    }
    expect((await call("GET", "/workflows/a")).body).toMatchObject({ version: 1, definition: {} });
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });

  it("can be text, and gets the position of a syntax error", async () => {
    const { call } = await openRest();
    const yaml = "steps:\n  - id: hello\n    type: set\n    values: { greeting: Good morning }\n";
    const created = await call("POST", "/workflows", { name: "A", definition: yaml });
    expect(created.body).toMatchObject({ definition: { steps: [{ id: "hello", type: "set" }] }, issues: [] });
    const broken = await call("POST", "/workflows", { name: "B", definition: "steps:\n  - id: [hello" });
    const { errors } = expectProblem(broken, "invalid_input");
    expect(errors![0]).toMatchObject({
      path: "definition",
      line: expect.any(Number),
      column: expect.any(Number),
    });
    expect((await call("GET", "/workflows")).body).toHaveLength(1);
  });

  it(`may be ${MAX_JSON_DEPTH} levels deep, and not deeper`, async () => {
    const { call } = await openRest();
    const send = (levels: number) =>
      call("POST", "/workflows", `{"name":"A","definition":${nested(levels)}}`);
    expect((await send(MAX_JSON_DEPTH)).status).toBe(201);
    for (const [levels, path] of [
      [MAX_JSON_DEPTH + 1, "definition"],
      // Before the body is parsed, where nothing is known of its fields.
      [100_000, ""],
    ] as const) {
      const { errors } = expectProblem(await send(levels), "invalid_input");
      expect(errors).toMatchObject([{ path, code: "too_deep" }]);
    }
  });
});

describe("keys that mean something in JavaScript", () => {
  it.each(["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"])(
    "are refused as unknown in bodies and queries: %s",
    async (name) => {
      const { call } = await openRest();
      await call("POST", "/workflows", { name: "A" });
      for (const answer of [
        await call("POST", "/workflows", `{"name":"B","${name}":{"polluted":true}}`),
        await call("PATCH", "/workflows/a", `{"${name}":{"name":"B"}}`),
        await call("GET", `/workflows?${name}=x`),
        await call("GET", `/workflows?${name}[polluted]=true`),
        await call("DELETE", `/workflows/a?${name}=x`),
      ]) {
        const { errors } = expectProblem(answer, "invalid_input");
        expect(errors).toHaveLength(1);
        expect(errors![0]!.path).toContain(name);
        expect(errors![0]!.code).toBe("unknown_key");
      }
      expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
      expect((await call("GET", "/workflows")).body).toMatchObject([{ name: "A", version: 1 }]);
    },
  );
});

describe("what JSON.parse would lose", () => {
  it.each([
    [
      "a number that is too long",
      '{"name": "A", "definition": {"a": [-1e4000]}}',
      "definition.a[0] not_finite",
    ],
    ["a key", '{"name": "A", "definition": {"a": 1, "a": 2}}', "definition.a duplicate_key"],
    ["a field", '{"name": "A", "name": "B"}', "name duplicate_key"],
  ])("is refused with its path: %s", async (_, body, expected) => {
    const { url, call, key } = await openRest();
    const { errors } = expectProblem(await sendBytes(url, key, body), "invalid_input");
    expect(errors!.map(({ path, code }) => `${path} ${code}`)).toContain(expected);
    expect((await call("GET", "/workflows")).body).toEqual([]);
  });

  it("is reported together with all other issues", async () => {
    const { url, key } = await openRest();
    const body = '{"nmae": "A", "definition": {"a": 1e4000}}';
    const { errors } = expectProblem(await sendBytes(url, key, body), "invalid_input");
    expect(errors!.map(({ path, code }) => `${path} ${code}`)).toEqual([
      "nmae unknown_key",
      "definition.a not_finite",
      "name missing",
    ]);
  });
});

describe("a number that a double can't hold", () => {
  it("arrives exactly where any value may be", async () => {
    const { url, key, call } = await openRest();
    const values = '{"id": 9007199254740993, "price": 900719925474099.23, "x": 1e400, "y": 1.10}';
    const body = `{"name": "A", "definition": {"steps": [{"id": "a", "type": "set", "values": ${values}}]}}`;
    expect((await sendBytes(url, key, body)).status).toBe(201);
    expect((await call("GET", "/workflows/a")).body.definition.steps[0].values).toEqual({
      id: "9007199254740993",
      price: "900719925474099.23",
      x: `1${"0".repeat(400)}`,
      y: 1.1,
    });
  });

  it("is refused with its digits where a field takes a number", async () => {
    const { url, key } = await openRest();
    const { errors } = expectProblem(
      await sendBytes(url, key, '{"name": "A", "if_match": 9007199254740993}'),
      "invalid_input",
    );
    expect(errors).toMatchObject([{ path: "if_match" }]);
  });
});

describe("deep nesting in the wrong place", () => {
  it("is refused like any other invalid value", async () => {
    const { call } = await openRest();
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    for (const body of [
      `{"name":${deep}}`,
      `{"name":"A","tags":${deep}}`,
      `{"name":"A","other":${deep}}`,
      deep,
    ]) {
      const { errors } = expectProblem(await call("POST", "/workflows", body), "invalid_input");
      expect(errors!.length).toBeGreaterThan(0);
    }
  });
});
