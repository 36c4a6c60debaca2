/** MCP servers as people write them: with null for what is optional, and messages that the SDK refuses. */
import { describe, expect, it, onTestFinished } from "vitest";
import { Config } from "../../../schemas/config.ts";
import { createMcpServers } from "../../../src/connections/mcp-servers/index.ts";
import type { McpTool } from "../../../src/core/connections.ts";
import { fixedSecrets } from "../../../src/core/secret-source.ts";
import { callOf } from "../../support/call-context.ts";
import { stepErrorOf } from "../../support/mock-http-server.ts";
import {
  INITIALIZED,
  ONE_TOOL,
  type Reply,
  scriptedMcpServer,
  sends,
} from "../../support/scripted-mcp-server.ts";

type Replies = Readonly<Record<string, Reply | Reply[]>>;

async function serverOf(replies: Replies) {
  const peer = await scriptedMcpServer(replies);
  const config = Config.parse({ mcp_servers: [{ name: "peer", url: `${peer.url}/mcp` }] });
  const all = createMcpServers(config, fixedSecrets({}), { now: Date.now });
  onTestFinished(() => all.close());
  return all;
}
const listOf = async (replies: Replies): Promise<McpTool[]> =>
  (await serverOf(replies)).tools("peer", callOf());
const resultOf = async (call: Reply, replies: Replies = {}): Promise<unknown> =>
  (await serverOf({ "tools/call": call, ...replies })).call(
    "peer",
    "add",
    {},
    { idempotencyKey: "k" },
    callOf(),
  );
const errorOf = (call: Reply, replies: Replies = {}) => stepErrorOf(resultOf(call, replies));

/** Sends a message with the id of the request. */
const answers =
  (rest: string, { id = (sent: unknown) => JSON.stringify(sent), status = 200 } = {}): Reply =>
  (response, request) =>
    sendsTo(
      `{"jsonrpc":"2.0","id":${id(request.id)},${rest}}`,
      "application/json",
      status,
    )(response, request);

const sendsTo = (...sent: Parameters<typeof sends>) => sends(...sent) as Exclude<Reply, string>;

/** Sends a body with the id of the request. */
const answersWith =
  (body: (id: unknown) => string): Reply =>
  (response, request) =>
    sendsTo(body(request.id))(response, request);

/** Sends a stream of events. */
const streams =
  (events: (id: unknown) => string): Reply =>
  (response, request) =>
    sendsTo(events(request.id), "text/event-stream")(response, request);

const listWith = (tool: string): string =>
  `{"tools":[{"name":"add","inputSchema":{"type":"object"},${tool}}]}`;
const HI = '"result":{"content":[{"type":"text","text":"hi"}]}';

describe("null for what is optional", () => {
  // https://github.com/gensecaihq/Wazuh-MCP-Server/issues/75, https://github.com/MervinPraison/PraisonAI/issues/3111
  it("is as if it were left out of a list, and stays where a schema has it as a value", async () => {
    const tool =
      '"title":null,"description":null,"annotations":null,"outputSchema":null,"icons":null,"execution":null,"_meta":null';
    const schema =
      '{"$schema":null,"type":"object","title":null,"required":null,"properties":{"a":{"type":["string","null"],"default":null,"description":null},"b":null}}';
    const list = `{"_meta":null,"nextCursor":null,"tools":[{"name":"add",${tool},"inputSchema":${schema}}]}`;
    expect(await listOf({ "tools/list": list })).toEqual([
      {
        name: "add",
        description: "",
        inputSchema: {
          type: "object",
          properties: { a: { type: ["string", "null"], default: null }, b: {} },
        },
        outputSchema: null,
        readOnly: false,
      },
    ]);
  });

  it("is as if it were left out of the handshake", async () => {
    const initialize =
      '{"protocolVersion":"2025-06-18","_meta":null,"instructions":null,"capabilities":{"tools":{"listChanged":null},"prompts":null,"logging":null,"experimental":null},"serverInfo":{"name":"p","version":"1","title":null}}';
    expect(await listOf({ initialize })).toHaveLength(1);
  });

  it.each([
    ['"capabilities":null,"serverInfo":null'],
    ['"capabilities":{"tools":null},"serverInfo":{"name":"p"}'],
    ['"serverInfo":{"version":1}'],
  ])("in the handshake does not hide the tools: %s", async (fields) => {
    expect(await listOf({ initialize: `{"protocolVersion":"2025-06-18",${fields}}` })).toHaveLength(1);
  });

  it("is an empty list of tools, and a list that is missing is named", async () => {
    expect(await listOf({ "tools/list": '{"tools":null}' })).toEqual([]);
    const error = await stepErrorOf(listOf({ "tools/list": "{}" }));
    expect(error.message).toContain("at tools: it must be a list, and is missing");
    const none = { initialize: '{"protocolVersion":"2025-06-18"}' };
    expect(await listOf({ ...none, "tools/list": answers('"error":{"code":-32601,"message":"x"}') })).toEqual(
      [],
    );
  });

  it("is as if it were left out of a result, and stays inside of structured content", async () => {
    const result =
      '{"content":[{"type":"text","text":"hi null","annotations":null,"_meta":null}],"structuredContent":null,"isError":null,"_meta":null}';
    expect(await resultOf(result)).toBe("hi null");
    expect(await resultOf('{"content":null,"structuredContent":{"a":null,"b":[null]}}')).toEqual({
      a: null,
      b: [null],
    });
  });

  it("is as if it were left out beside a result, an error, and in a notification", async () => {
    expect(await resultOf(answers(`${HI},"error":null`))).toBe("hi");
    const failure = await errorOf(
      answers('"result":null,"error":{"code":-32000,"message":"no stock","data":null}'),
    );
    expect(failure.message).toBe("peer: add failed: no stock");
    const notification =
      '{"jsonrpc":"2.0","id":null,"method":"notifications/message","params":{"_meta":null,"level":"info","logger":null,"data":"x"}}';
    expect(
      await resultOf(
        streams((id) => `data: ${notification}\n\ndata: {"jsonrpc":"2.0","id":${String(id)},${HI}}\n\n`),
      ),
    ).toBe("hi");
  });
});

describe("a tool of another form", () => {
  it("does not take the others with it", async () => {
    const tools = [
      '{"name":"text","inputSchema":"none"}',
      '{"name":"missing"}',
      '{"name":"untyped","inputSchema":{"properties":{"a":{}},"required":["a",1]}}',
      '{"name":"list","inputSchema":{"type":"array"},"outputSchema":{"type":"array"}}',
      '{"name":"described","description":7,"annotations":{"readOnlyHint":"yes"},"inputSchema":{"type":"object"}}',
      '{"name":5}',
      "null",
      '{"name":"good","description":"Good.","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}',
      '{"name":"good","description":"Again.","inputSchema":{"type":"object"}}',
    ];
    const found = await listOf({ "tools/list": `{"tools":[${tools.join()}]}` });
    const any = { description: "", inputSchema: { type: "object" }, outputSchema: null, readOnly: false };
    expect(found).toEqual([
      { ...any, name: "text" },
      { ...any, name: "missing" },
      { ...any, name: "untyped", inputSchema: { type: "object", properties: { a: {} }, required: ["a"] } },
      { ...any, name: "list" },
      { ...any, name: "described" },
      { ...any, name: "good", description: "Good.", readOnly: true },
    ]);
  });

  it("can be called if the schema of its results can't be compiled", async () => {
    const list = listWith('"outputSchema":{"type":"object","properties":{"a":{"$ref":"#/$defs/none"}}}');
    expect(await resultOf('{"content":[],"structuredContent":{"a":1}}', { "tools/list": list })).toEqual({
      a: 1,
    });
  });

  it("does not stop the process by the schema of its results", async () => {
    const pattern =
      '"outputSchema":{"type":"object","properties":{"a":{"type":"string","pattern":"^(a+)+$"}}}';
    const slow = await errorOf(`{"content":[],"structuredContent":{"a":"${"a".repeat(40)}!"}}`, {
      "tools/list": listWith(pattern),
    });
    expect(slow.message).toContain("its structured content does not match its output schema: a must match");
    const referTwice = Array.from({ length: 40 }, (_, index) => {
      const next = `{"$ref":"#/$defs/b${index + 1}"}`;
      return `"b${index}":{"allOf":[${next},${next}]}`;
    });
    const twice = await errorOf('{"content":[],"structuredContent":{}}', {
      "tools/list": listWith(
        `"outputSchema":{"type":"object","$ref":"#/$defs/b0","$defs":{${referTwice.join()},"b40":{"type":"object"}}}`,
      ),
    });
    expect(twice).toMatchObject({ code: "tool_failed", transient: false });
    expect(twice.message).toContain("takes too long to check against its output schema");
    const levels = Array.from({ length: 40 }, (_, index) => {
      const next = `{"$ref":"#/$defs/l${index + 1}","default":{}}`;
      return `"l${index}":{"type":"object","properties":{"a":${next},"b":${next}}}`;
    });
    const doubled = `"outputSchema":{"type":"object","$ref":"#/$defs/l0","$defs":{${levels.join()},"l40":{}}}`;
    const endless = `"outputSchema":{"type":"object","properties":{"a":{"$ref":"#","default":{}}}}`;
    for (const schema of [doubled, endless]) {
      const large = await errorOf('{"content":[],"structuredContent":{}}', {
        "tools/list": listWith(schema),
      });
      // Whichever limit comes first.
      expect(["output_too_large", "tool_failed"]).toContain(large.code);
      expect(large.transient).toBe(false);
    }
  });

  it("is refused if its result does not match its schema, with what to do", async () => {
    const list = listWith('"outputSchema":{"type":"object","properties":{"a":{"type":"integer"}}}');
    const error = await errorOf('{"content":[],"structuredContent":{"a":"x"}}', { "tools/list": list });
    expect(error).toMatchObject({ code: "tool_failed", transient: false });
    expect(error.message).toContain("a must be an integer, got text");
    expect(error.options.fix).toContain("people who run the server");
    const without = await errorOf('{"content":[],"structuredContent":null}', { "tools/list": list });
    expect(without.message).toContain("returned no structured content");
  });
});

const page = (name: string, cursor: string): string =>
  `{"nextCursor":"${cursor}","tools":[{"name":"${name}","inputSchema":{"type":"object"}}]}`;
const namesOf = async (replies: Reply[]) => (await listOf({ "tools/list": replies })).map(({ name }) => name);

describe("the pages of a list", () => {
  it("end with a cursor that was there before", async () => {
    expect(await namesOf([page("a", "1"), page("b", "2"), page("a", "1")])).toEqual(["a", "b"]);
  });

  // https://github.com/modelcontextprotocol/java-sdk/issues/575
  it("end with an empty cursor that the server repeats or does not know", async () => {
    expect(await namesOf([page("a", "")])).toEqual(["a"]);
    expect(
      await namesOf([page("a", ""), answers('"error":{"code":-32602,"message":"Invalid cursor"}')]),
    ).toEqual(["a"]);
    expect(await namesOf([page("a", ""), page("b", "x"), ONE_TOOL])).toEqual(["a", "b", "add"]);
  });

  it("are at most 20", async () => {
    const pages = Array.from({ length: 30 }, (_, index) => page(`t${index}`, String(index)));
    const error = await stepErrorOf(listOf({ "tools/list": pages }));
    expect(error.message).toBe("The MCP server peer lists its tools on more than 20 pages.");
  });
});

describe("the content of a result", () => {
  it.each([
    ['{"content":"hello"}', "hello"],
    ['{"content":{"type":"text","text":"hello"}}', "hello"],
    [
      '{"content":[{"type":"video","url":"x"},{"type":"text","text":"hello"}]}',
      "[content of an unknown type: video]\nhello",
    ],
    ['{"content":[{"type":"resource_link","uri":"x://y","name":null}]}', "[x://y]"],
    [
      '{"content":[{"type":"image","data":"data:image/png;base64,AAAA","mimeType":"image/png"}]}',
      "[image, image/png, 19 bytes]",
    ],
    ['{"content":[{"type":"resource","resource":{"uri":"x://y","text":"hello","blob":null}}]}', "hello"],
    ['{"content":[{"type":"text","text":5},{"type":"text","text":{"a":1}}]}', '5\n{"a":1}'],
    ['{"content":[{"type":"text","text":null}]}', "[text block without text]"],
    ['{"content":[null,{"type":"text","text":"hello"}]}', "[content of an unknown type]\nhello"],
  ])("is read from %s", async (result, value) => {
    expect(await resultOf(result)).toBe(value);
  });

  it("keeps all digits beside texts with the same ones", async () => {
    const list = listWith(
      '"outputSchema":{"type":"object","properties":{"n":{"type":"integer"},"s":{"type":"string"}}}',
    );
    const digits = "9007199254740993";
    const result = `{"content":[],"structuredContent":{"n":${digits},"s":"${digits}"}}`;
    expect(await resultOf(result, { "tools/list": list })).toEqual({ n: digits, s: digits });
  });

  it.each([
    ['{"n":9007199254740993}', '{"n":9007199254740992}', { n: "9007199254740993" }],
    [
      '{"n":0.12345678901234567890,"s":"x"}',
      '{"s":"x","n":0.12345678901234568}',
      { n: "0.12345678901234567890", s: "x" },
    ],
    ['{"n":9007199254740995}', '{"n":9007199254740992}', { n: "9007199254740992" }],
    ["9007199254740993 is the number", '{"n":9007199254740992}', { n: "9007199254740992" }],
  ])("has the digits of the text %s if %s is the same but for rounding", async (text, content, value) => {
    const block = JSON.stringify({ type: "text", text });
    expect(await resultOf(`{"content":[${block}],"structuredContent":${content}}`)).toEqual(value);
  });

  it("keeps a text of digits that no number is beside", async () => {
    const list = listWith('"outputSchema":{"type":"object","properties":{"s":{"type":"string"}}}');
    const result = '{"content":[],"structuredContent":{"s":"9007199254740993"}}';
    expect(await resultOf(result, { "tools/list": list })).toEqual({ s: "9007199254740993" });
  });

  it("is a failure if isError says so in another form", async () => {
    const error = await errorOf('{"content":[{"type":"text","text":"sold out"}],"isError":"true"}');
    expect(error.message).toBe("peer: add failed: sold out");
  });
});

describe("a message of another form", () => {
  it.each([
    ["an id as text", answers(HI, { id: (sent) => `"${String(sent)}"` })],
    ["no jsonrpc", answersWith((id) => `{"id":${String(id)},${HI}}`)],
    ["a byte order mark", answersWith((id) => `\uFEFF{"jsonrpc":"2.0","id":${String(id)},${HI}}`)],
    ["status 202 and a body", answers(HI, { status: 202 })],
    [
      "events with CRLF, comments and data of several lines",
      streams(
        (id) =>
          `\uFEFF: hello\r\n\r\nevent: message\r\ndata: {"jsonrpc":"2.0","id":${String(id)},\r\ndata: ${HI}}\r\n\r\n`,
      ),
    ],
    [
      "events with only carriage returns, while the stream stays open",
      (response, { id }) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(`event: message\rdata: {"jsonrpc":"2.0","id":${String(id)},${HI}}\r\r`);
      },
    ],
  ] satisfies [string, Reply][])("is read: %s", async (_, reply) => {
    expect(await resultOf(reply)).toBe("hi");
  });

  it.each([
    ['"error":{"code":"E_STOCK","message":"no stock"}', "no stock (E_STOCK)"],
    ['"error":"no stock"', "no stock"],
    ['"error":{"code":-32000,"message":"no stock","data":{"sku":7}}', 'no stock ({"sku":7})'],
    ['"result":null', "the server sent neither a result nor an error"],
    [
      '"result":{"content":[],"structuredContent":[1]}',
      "does not have the form of the protocol at structuredContent: it must be an object, got a list",
    ],
    [
      '"result":{"content":[],"structuredContent":"x"}',
      "does not have the form of the protocol at structuredContent: it must be an object, got text",
    ],
    [
      '"result":{"content":[],"structuredContent":{"__proto__":{"b":1},"a":1}}',
      "its structured content has a field __proto__, which can't be kept",
    ],
  ])("is a failure of the tool: %s", async (rest, message) => {
    const error = await errorOf(answers(rest));
    expect(error).toMatchObject({ code: "tool_failed", transient: false });
    expect(error.message).toContain(`peer: add failed: `);
    expect(error.message).toContain(message);
    expect(error.message).not.toContain("invalid_type");
  });

  it("is the answer to the request if an error has no id", async () => {
    const error = await errorOf(
      sends('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}'),
    );
    expect(error.message).toBe("peer: add failed: Parse error");
  });

  it.each([
    [
      "a page",
      sends("<html><title>Sign in</title></html>", "text/html"),
      'an HTML page with the title "Sign in"',
    ],
    ["text that is no JSON", sends("{oops"), "{oops"],
    ["status 202 and nothing", sends("", "text/plain", 202), "an empty response with HTTP 202"],
    ["status 204", sends("", "application/json", 204), "an empty response with HTTP 204"],
  ])("makes the server unavailable, and says what it is: %s", async (_, reply, found) => {
    const error = await errorOf(reply);
    expect(error).toMatchObject({ code: "tool_unavailable", transient: true });
    expect(error.message).toContain(`sent something that is not a message of the protocol: ${found}`);
  });
});

describe("a status of failure", () => {
  it.each([429, 503])("%i waits as long as the server asks, and says why", async (status) => {
    const reply = sends('{"error":"slow down"}', "application/json", status, { "retry-after": "7" });
    const error = await errorOf(reply);
    expect(error).toMatchObject({
      code: "tool_unavailable",
      transient: true,
      options: { retryAfterMs: 7_000 },
    });
    expect(error.message).toBe(`The MCP server peer answered with HTTP ${status}: slow down.`);
    const first = await stepErrorOf(listOf({ initialize: reply, "server/discover": reply }));
    expect(first).toMatchObject({ code: "tool_unavailable", options: { retryAfterMs: 7_000 } });
  });

  it.each([401, 403])("%i without a key says so, and what the server says", async (status) => {
    const error = await errorOf(sends('{"error":"sign in first"}', "application/json", status));
    expect(error).toMatchObject({ code: "environment" });
    expect(error.message).toBe(
      `The MCP server peer refused a request without a key (HTTP ${status}): sign in first.`,
    );
    expect(error.options.fix).toContain("Set key_var of mcp_servers: peer");
  });

  it("of a redirect says what to configure, and is not repeated", async () => {
    const error = await errorOf(sends("", "text/plain", 307, { location: "https://example.com/" }));
    expect(error).toMatchObject({ code: "tool_unavailable", transient: false });
    expect(error.options.fix).toContain("Set url of mcp_servers: peer");
  });

  it("has the title of a page, or the message of an error, and no more", async () => {
    const down = await errorOf(sends(`<html><title>Down</title>${"x".repeat(10_000)}`, "text/html", 502));
    expect(down.message).toBe(
      'The MCP server peer answered with HTTP 502: an HTML page with the title "Down".',
    );
    const inner = await errorOf(answers('"error":{"code":-32603,"message":"boom"}', { status: 500 }));
    expect(inner.message).toBe("The MCP server peer answered with HTTP 500: boom.");
  });
});

describe("a revision of the protocol that is not known", () => {
  it("is named", async () => {
    const error = await stepErrorOf(listOf({ initialize: INITIALIZED.replace("2025-06-18", "1999-01-01") }));
    expect(error.message).toContain("protocol version is not supported: 1999-01-01");
  });
});
