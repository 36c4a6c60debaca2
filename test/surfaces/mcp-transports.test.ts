import { describe, expect, it } from "vitest";
import { Writable } from "node:stream";
import { pino } from "pino";
import { eventually } from "../support/eventually.ts";
import { testInstance } from "../support/instance.ts";
import { rawRequest } from "../support/raw-http.ts";
import { socketClient, formatRequest } from "../support/sockets.ts";
import {
  ACCEPT_HEADERS,
  INITIALIZE_REQUEST,
  LIST_WORKFLOWS_CALL,
  openMcp,
  openSession,
  openSse,
  postMessage,
} from "../support/raw-mcp.ts";

describe("GET /sse", () => {
  it("sends the endpoint first, and disables the buffering of proxies", async () => {
    const { url, key } = await openMcp();
    const { stream, messages } = await openSse(url, key);
    expect(stream.status).toBe(200);
    expect(stream.headers).toMatchObject({
      "content-type": "text/event-stream",
      "x-accel-buffering": "no",
      "cache-control": "no-cache, no-transform",
    });
    expect(messages).toMatch(/\/messages\?sessionId=[0-9a-f-]{36}$/);
    expect(stream.text().startsWith("event: endpoint\n")).toBe(true);
  });

  it("answers posted messages on the stream", async () => {
    const { url, key } = await openMcp();
    const { stream, messages } = await openSse(url, key);
    const accepted = await postMessage(messages, key, INITIALIZE_REQUEST);
    expect([accepted.status, accepted.text]).toEqual([202, "Accepted"]);
    await postMessage(messages, key, LIST_WORKFLOWS_CALL);
    const [, data] = await stream.waitFor(/^data: (\{.*"id":2.*\})$/m);
    expect(JSON.parse(data!).result.structuredContent).toEqual({ items: [], total: 0, next_cursor: null });
  });
});

const createCall = (definition: string): string =>
  `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"create_workflow","arguments":{"name":"A","definition":${definition}}}}`;

const issuesIn = (result: { isError?: boolean; content: { text: string }[] }): string[] => {
  expect(result.isError).toBe(true);
  const { errors } = JSON.parse(result.content[0]!.text) as { errors: { path: string; code: string }[] };
  return errors.map(({ path, code }) => `${path} ${code}`);
};

describe("arguments that JSON.parse would change", () => {
  const CASES = [
    ['{"a": [1e4000]}', "definition.a[0] not_finite"],
    ['{"a": 1, "a": 2}', "definition.a duplicate_key"],
  ] as const;
  it("are refused with their path on /mcp, with and without a session", async () => {
    const { url, key } = await openMcp();
    const session = await openSession(url, key);
    for (const headers of [key, session]) {
      for (const [definition, expected] of CASES) {
        const { text } = await postMessage(`${url}/mcp`, headers, createCall(definition));
        const data = /^data: (.+)$/m.exec(text)?.[1] ?? text;
        expect(issuesIn(JSON.parse(data).result)).toEqual([expected]);
      }
    }
  });

  it("are refused with their path on a stream", async () => {
    const { url, key } = await openMcp();
    const { stream, messages } = await openSse(url, key);
    await postMessage(messages, key, INITIALIZE_REQUEST);
    await postMessage(messages, key, createCall(CASES[0][0]));
    const [, data] = await stream.waitFor(/^data: (\{.*"id":2.*\})$/m);
    expect(issuesIn(JSON.parse(data!).result)).toEqual([CASES[0][1]]);
  });
});

/** The numbers of the stored definition. */
const storedNumbers = async (url: string, key: Record<string, string>) => {
  const call = `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"get_workflow","arguments":{"workflow_id":"a"}}}`;
  const { text } = await postMessage(`${url}/mcp`, key, call);
  const { structuredContent } = JSON.parse(/^data: (.+)$/m.exec(text)?.[1] ?? text).result;
  return structuredContent.definition.steps[0].values.n as unknown;
};

describe("arguments with numbers that a double can't hold", () => {
  const ARGUMENTS =
    '{"steps":[{"id":"a","type":"set","values":{"n":[9007199254740993,0.12345678901234567890,1.50]}}]}';
  const EXACT = ["9007199254740993", "0.12345678901234567890", 1.5];

  it("arrive exactly on /mcp, with and without a session", async () => {
    const withSession = await openMcp();
    await postMessage(
      `${withSession.url}/mcp`,
      await openSession(withSession.url, withSession.key),
      createCall(ARGUMENTS),
    );
    expect(await storedNumbers(withSession.url, withSession.key)).toEqual(EXACT);
    const { url, key } = await openMcp();
    await postMessage(`${url}/mcp`, key, createCall(ARGUMENTS));
    expect(await storedNumbers(url, key)).toEqual(EXACT);
  });

  it("arrive exactly on a stream", async () => {
    const { url, key } = await openMcp();
    const { stream, messages } = await openSse(url, key);
    await postMessage(messages, key, INITIALIZE_REQUEST);
    await postMessage(messages, key, createCall(ARGUMENTS));
    await stream.waitFor(/^data: (\{.*"id":2.*\})$/m);
    expect(await storedNumbers(url, key)).toEqual(EXACT);
  });
});

describe("a key that occurs twice outside the arguments of a call", () => {
  it.each([
    ["id", '{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}'],
    ["method", '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}'],
    ["params", '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{},"params":{"name":"x"}}'],
    [
      "params.name",
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_workflows","n\\u0061me":"delete_workflow"}}',
    ],
    [
      "params.arguments",
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{},"arguments":{}}}',
    ],
    [
      "params.arguments.a",
      '{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"x","arguments":{"a":"1","a":"2"}}}',
    ],
    [
      "result.content.decision",
      '{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"decision":"reject","decision":"approve"}}}',
    ],
  ])("is refused: %s", async (path, body) => {
    const { url, key } = await openMcp();
    const { messages } = await openSse(url, key);
    for (const target of [`${url}/mcp`, messages]) {
      const answer = await rawRequest("POST", target, {
        headers: { ...ACCEPT_HEADERS, ...key, "Content-Type": "application/json" },
        body,
      });
      expect(answer.status).toBe(400);
      expect(JSON.parse(answer.text)).toMatchObject({
        code: "invalid_request",
        detail: expect.stringContaining(`${path} occurs twice in the same object`),
      });
    }
  });
});

describe("a number that identifies a message and that a double can't hold", () => {
  const LONG = "9007199254740993";
  it.each([
    ["id", `{"jsonrpc":"2.0","id":${LONG},"method":"tools/list"}`],
    ["id", `{"jsonrpc":"2.0","id":1e999,"method":"tools/list"}`],
    [
      "params._meta.progressToken",
      `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{"progressToken":${LONG}}}}`,
    ],
    [
      "params.requestId",
      `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":-${LONG}}}`,
    ],
  ])("is refused, because the client would not find its answer: %s", async (path, body) => {
    const { url, key } = await openMcp();
    const { messages } = await openSse(url, key);
    for (const target of [`${url}/mcp`, messages]) {
      const answer = await rawRequest("POST", target, {
        headers: { ...ACCEPT_HEADERS, ...key, "Content-Type": "application/json" },
        body,
      });
      expect(answer.status).toBe(400);
      expect(JSON.parse(answer.text)).toMatchObject({
        code: "invalid_request",
        detail: expect.stringContaining(`${path} must be text or an integer up to 9007199254740991, got `),
      });
    }
  });

  it("is echoed as it is, where it is text or the largest integer", async () => {
    const { url, key } = await openMcp();
    const { stream, messages } = await openSse(url, key);
    await postMessage(messages, key, INITIALIZE_REQUEST);
    for (const id of [`"${LONG}"`, "9007199254740991"]) {
      const call = { ...LIST_WORKFLOWS_CALL, id: JSON.parse(id) as string | number };
      await postMessage(messages, key, call);
      expect(await stream.waitFor(new RegExp(`^data: {.*"id":${id}[,}]`, "m"))).toHaveLength(1);
    }
  });
});

describe("paths and methods of the MCP listener", () => {
  it("has no POST /sse, so that clients which try HTTP first fall back", async () => {
    const { url, key } = await openMcp();
    const answer = await postMessage(`${url}/sse`, key, INITIALIZE_REQUEST);
    expect([answer.status, answer.headers.allow]).toEqual([405, "GET"]);
    expect(answer.json().code).toBe("method_not_allowed");
  });

  it.each([
    "/.well-known/oauth-authorization-server",
    "/.well-known/openid-configuration",
    "/register",
    "/workflows",
    "/",
  ])("answers 404 at %s", async (path) => {
    const { url, key } = await openMcp();
    for (const headers of [{}, key]) {
      const answer = await rawRequest("GET", url + path, { headers });
      expect([answer.status, answer.json().code]).toEqual([404, "route_not_found"]);
    }
  });

  it.each([
    ["DELETE", "/sse", "GET"],
    ["GET", "/messages", "POST"],
    ["PUT", "/mcp", "GET, POST, DELETE"],
    ["POST", "/health", "GET, HEAD"],
  ])("answers %s %s with 405 and the allowed methods", async (method, path, allow) => {
    const { url, key } = await openMcp();
    const answer = await rawRequest(method, url + path, { headers: key });
    expect([answer.status, answer.headers.allow]).toEqual([405, allow]);
  });

  it("accepts a path in the absolute form that proxies send", async () => {
    const { url, key } = await openMcp();
    const client = await socketClient(url);
    client.send(formatRequest("GET", `http://localhost/health?x`, { Connection: "close" }));
    await client.ended;
    expect(client.received()).toMatch(/^HTTP\/1.1 200 /);
    for (const [target, status] of [
      ["//localhost/health", "404 Not Found"],
      ["http://[/health", "400 Bad Request"],
      ["http://evil.example/mcp", "400 Bad Request"],
    ]) {
      const odd = await socketClient(url);
      odd.send(formatRequest("GET", target!, { ...key, Connection: "close" }));
      await odd.ended;
      expect([target, odd.received().split("\r\n")[0]]).toEqual([target, `HTTP/1.1 ${status}`]);
    }
  });

  it("reports its health without a key", async () => {
    const { url } = await openMcp();
    const answer = await rawRequest("GET", `${url}/health`);
    expect([answer.status, answer.json().status]).toEqual([200, "ok"]);
  });
});

const ENDPOINTS = [
  ["GET", "/sse", undefined],
  ["POST", "/messages?sessionId=none", INITIALIZE_REQUEST],
  ["GET", "/mcp", undefined],
  ["POST", "/mcp", INITIALIZE_REQUEST],
  ["DELETE", "/mcp", undefined],
] as const;

describe.each(ENDPOINTS)("%s %s", (method, path, body) => {
  it("requires a key, and says only to a client without one that there are tokens", async () => {
    const { url, key } = await openMcp();
    const wrong = { ...key, "X-API-Key": `mill_${"0".repeat(36)}` };
    const transport = path === "/mcp" ? "/mcp" : "/sse";
    const metadata = `${url}/.well-known/oauth-protected-resource${transport}`;
    for (const [headers, challenge] of [
      [
        ACCEPT_HEADERS,
        `Bearer realm="millrace", resource_metadata="${metadata}", scope="read write publish run"`,
      ],
      [wrong, 'ApiKey realm="millrace"'],
    ] as const) {
      const answer = await rawRequest(method, url + path, { headers, body });
      expect(answer.status).toBe(401);
      expect(answer.headers["www-authenticate"]).toBe(challenge);
      expect(answer.json().code).toBe("unauthorized");
    }
  });

  it.each([
    ["Origin", "https://evil.example"],
    ["Origin", "null"],
    ["Host", "evil.example"],
    ["Host", "evil.example:8000"],
    ["Host", "127.0.0.1.evil.example"],
    ["Host", "localhost.evil.example"],
  ])("refuses a foreign %s (%s), with and without a key", async (header, value) => {
    const { url, key } = await openMcp();
    for (const headers of [ACCEPT_HEADERS, key]) {
      const answer = await rawRequest(method, url + path, { headers: { ...headers, [header]: value }, body });
      expect([answer.status, answer.json().code]).toEqual([403, "forbidden_origin"]);
    }
  });
});

describe("a Host that only a URL parser understands", () => {
  it.each([
    "127.0.0.1#evil.example",
    "127.0.0.1#evil.example:8000",
    "user@127.0.0.1",
    "evil.example@localhost",
    "localhost%2eevil.example@127.0.0.1",
    "127.0.0.1/evil.example",
    "127.0.0.1?evil.example",
    "localhost.",
    "[::1%25lo]",
    "[::1]evil.example",
    "localhost:65536",
  ])("is refused: %s", async (host) => {
    const { url, key } = await openMcp();
    const client = await socketClient(url);
    client.send(formatRequest("POST", "/mcp", { ...key, Host: host, Connection: "close" }, "{}"));
    await client.ended;
    expect(client.received().split("\r\n")[0]).toBe("HTTP/1.1 400 Bad Request");
    expect(client.received()).toContain('"code":"invalid_request"');
  });

  it.each([
    "http://127.0.0.1#evil.example",
    "http://user@127.0.0.1",
    "http://localhost.",
    "javascript://localhost",
  ])("is refused in an Origin: %s", async (origin) => {
    const { url, key } = await openMcp();
    const answer = await rawRequest("POST", `${url}/mcp`, {
      headers: { ...key, Origin: origin },
      body: "{}",
    });
    expect([answer.status, answer.json().code]).toEqual([403, "forbidden_origin"]);
  });
});

const statusOf = async (url: string, headers: Record<string, string>): Promise<number> =>
  (await postMessage(`${url}/mcp`, headers, INITIALIZE_REQUEST)).status;

describe("Host and Origin", () => {
  it.each(["localhost", "LocalHost:8000", "127.0.0.1:8000", "10.1.2.3", "[::1]:8000", "[2001:db8::1]"])(
    "accept the Host %s",
    async (host) => {
      const { url, key } = await openMcp();
      expect(await statusOf(url, { ...key, Host: host })).toBe(200);
    },
  );

  it.each(["http://localhost:6274", "http://127.0.0.1:9", "http://[::1]:3000"])(
    "accept the local Origin %s",
    async (origin) => {
      const { url, key } = await openMcp();
      expect(await statusOf(url, { ...key, Origin: origin })).toBe(200);
    },
  );

  it("accept the host of MILLRACE_BASE_URL, and no other", async () => {
    const { instance, key } = await openMcp();
    const { url } = await instance.mcp({ env: { MILLRACE_BASE_URL: "https://flows.example.org" } });
    expect(await statusOf(url, { ...key, Host: "flows.example.org" })).toBe(200);
    expect(await statusOf(url, { ...key, Host: "flows.example.org:8443" })).toBe(200);
    expect(await statusOf(url, { ...key, Origin: "https://flows.example.org" })).toBe(200);
    expect(await statusOf(url, { ...key, Host: "example.org" })).toBe(403);
    expect(await statusOf(url, { ...key, Origin: "https://example.org" })).toBe(403);
  });

  it("accept the host of MILLRACE_MCP_URL too, if agents use another name than people", async () => {
    const { instance, key } = await openMcp();
    const env = {
      MILLRACE_BASE_URL: "https://flows.example.org",
      MILLRACE_MCP_URL: "https://mcp.example.net/mcp",
    };
    const { url } = await instance.mcp({ env });
    for (const Host of ["mcp.example.net", "flows.example.org"])
      expect([Host, await statusOf(url, { ...key, Host })]).toEqual([Host, 200]);
    expect(await statusOf(url, { ...key, Host: "example.net" })).toBe(403);
  });
});

const initializeWith = (capabilities: object) => ({
  ...INITIALIZE_REQUEST,
  params: { ...INITIALIZE_REQUEST.params, capabilities },
});

/** An initialize request with a number of levels below `capabilities`. */
const deep = (levels: number): string =>
  JSON.stringify(initializeWith({ experimental: "DEEP" })).replace(
    '"DEEP"',
    '{"x":'.repeat(levels) + "1" + "}".repeat(levels),
  );
const longInitialize = initializeWith({ experimental: { x: { note: "x".repeat(16 * 1024) } } });

describe("a body that can't be read", () => {
  const large = JSON.stringify({ ...LIST_WORKFLOWS_CALL, padding: "x".repeat(1024 * 1024) });
  const cases = [
    ["is not JSON", 400, "invalid_json", "{", {}],
    ["is too large", 413, "payload_too_large", large, {}],
    ["is not UTF-8", 400, "invalid_json", Buffer.from('{"name":"\xe9"}', "latin1"), {}],
    ["is compressed", 415, "unsupported_media_type", "{}", { "Content-Encoding": "gzip" }],
    ["is a batch", 400, "invalid_request", JSON.stringify([LIST_WORKFLOWS_CALL, LIST_WORKFLOWS_CALL]), {}],
    ["is nested deeply", 400, "invalid_input", deep(200), {}],
    ["is nested beyond any stack", 400, "invalid_input", deep(20_000), {}],
    ["is a long initialize", 413, "payload_too_large", longInitialize, {}],
    ["is of another type", 415, "unsupported_media_type", "a=1", { "Content-Type": "text/plain" }],
  ] as const;

  it.each(cases)(
    "on /messages is refused with a problem when it %s",
    async (_, status, code, body, headers) => {
      const { url, key } = await openMcp();
      const { messages, stream } = await openSse(url, key);
      const answer = await postMessage(messages, { ...key, ...headers }, body);
      expect([answer.status, answer.json().code]).toEqual([status, code]);
      expect(answer.headers["content-type"]).toBe("application/problem+json");
      expect(stream.ended()).toBe(false);
    },
  );

  it.each(cases)("on /mcp is refused with a problem when it %s", async (_, status, code, body, headers) => {
    const { url, key } = await openMcp();
    const session = await openSession(url, key);
    for (const auth of [key, session]) {
      const answer = await postMessage(`${url}/mcp`, { ...auth, ...headers }, body);
      expect([answer.status, answer.json().code]).toEqual([status, code]);
    }
    expect((await postMessage(`${url}/mcp`, session, LIST_WORKFLOWS_CALL)).status).toBe(200);
  });

  it("may start with a byte order mark", async () => {
    const { url, key } = await openMcp();
    expect((await postMessage(`${url}/mcp`, key, `\uFEFF${JSON.stringify(INITIALIZE_REQUEST)}`)).status).toBe(
      200,
    );
  });

  it("because its client disconnects is not logged as a server error", async () => {
    let log = "";
    const sink = new Writable({ write: (chunk, _encoding, done) => ((log += String(chunk)), done()) });
    const { url, key } = await openMcp({ log: pino({ level: "info" }, sink) });
    const client = await socketClient(url);
    client.send(
      formatRequest("POST", "/mcp", {
        ...key,
        "Content-Type": "application/json",
        "Content-Length": "1000",
        Expect: "100-continue",
      }),
    );
    await client.waitFor("100 Continue");
    client.send('{"jsonrpc":');
    client.socket.destroy();
    await eventually(() => log.includes("request refused") || undefined, "the log line");
    expect(log).toContain('"code":"invalid_request"');
    expect(log).not.toMatch(/"level":(40|50|60)|"err"/);
  });

  it.each([[[]], ["text"], [1], [null], [{}], [{ jsonrpc: "1.0", id: 1, method: "x" }]])(
    "is refused with 400 when it is %j, which is no JSON-RPC message, on every copy",
    async (body) => {
      const { instance, url, key } = await openMcp();
      const other = await (await testInstance({ stateDir: instance.stateDir })).mcp();
      const { messages } = await openSse(url, key);
      const session = await openSession(url, key);
      for (const [to, headers] of [
        [messages, key],
        [messages.replace(url, other.url), key],
        [`${url}/mcp`, key],
        [`${url}/mcp`, session],
      ] as const) {
        const answer = await postMessage(to, headers, JSON.stringify(body));
        expect([to, answer.status]).toEqual([to, 400]);
        const refusal = answer.json();
        expect(refusal.error?.message ?? refusal.detail).toEqual(expect.any(String));
      }
    },
  );
});
