import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { describe, expect, it } from "vitest";
import { exactResponse, readExactLines } from "../../../src/connections/mcp-servers/exact-messages.ts";
import { outputCheck } from "../../../src/connections/mcp-servers/exact-values.ts";
import { expectCost } from "../../support/expect-cost.ts";

const RESULT =
  '{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":false,"structuredContent":{"n":9007199254740993}}}';
const EXACT = RESULT.replace("9007199254740993", '"9007199254740993"');

/** A response whose body comes in pieces of a few bytes. */
const inPieces = (text: string, type: string, size = 7): Response => {
  const bytes = new TextEncoder().encode(text);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.subarray(at, at + size));
      controller.close();
    },
  });
  return new Response(body, { status: 200, headers: { "content-type": type } });
};

const exact = (text: string, type = "application/json"): Promise<string> =>
  exactResponse(inPieces(text, type)).text();

describe("exactResponse", () => {
  it("writes the long numbers of structured content as text, also in a batch, and nothing else", async () => {
    expect(await exact(RESULT)).toBe(EXACT);
    expect(await exact(`[${RESULT}]`)).toBe(`[${EXACT}]`);
    const others =
      '{"jsonrpc":"2.0","id":1,"result":{"x":"é 1.50 9007199254740993","y":{"maximum":18446744073709552000}}}';
    expect(await exact(others)).toBe(others);
    expect(await exact("no JSON: 9007199254740993")).toBe("no JSON: 9007199254740993");
  });

  it("is an error where structured content has a key twice, and elsewhere the SDK reads it", async () => {
    expect(await exact('{"id":7,"result":{"structuredContent":{"n":1,"n":2}}}')).toBe(
      '{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"The key result.structuredContent.n occurs twice in the same object."}}',
    );
    const others = '{"id":7,"result":{"content":[],"_meta":{"n":1,"n":2}}}';
    expect(JSON.parse(await exact(others))).toMatchObject({ id: 7, result: { _meta: { n: 2 } } });
  });

  it("does so in the events of a stream, whatever its line ends and pieces", async () => {
    for (const end of ["\n", "\r\n", "\r"]) {
      const event = (data: string) =>
        [
          "id: 12345678901234567890",
          "event: message",
          ...data.split("|").map((line) => `data: ${line}`),
          "",
          "",
        ].join(end);
      const written = `: hello${end}${end}${event(RESULT)}${event(RESULT.replace(",", ",|"))}`;
      expect(await exact(written, "text/event-stream")).toBe(
        `: hello${end}${end}${event(EXACT)}${event(`${EXACT}|`)}`.replaceAll(end, "\n"),
      );
    }
  });

  it("passes an event on before the next one comes", async () => {
    const stream = new TransformStream<Uint8Array, Uint8Array>();
    const writer = stream.writable.getWriter();
    const response = exactResponse(
      new Response(stream.readable, { headers: { "content-type": "text/event-stream" } }),
    );
    void writer.write(new TextEncoder().encode(`data: ${RESULT}\n\n`));
    const { value } = await response.body!.getReader().read();
    expect(new TextDecoder().decode(value)).toBe(`data: ${EXACT}`);
    await writer.abort();
  });

  it("takes an event in very many pieces, and a blank line in several", async () => {
    const text = "x".repeat(200_000);
    const written = `data: ${RESULT.replace('{"n":9007199254740993}', `["${text}",9007199254740993]`)}\r\n\r\n`;
    await expectCost(4_000, async () => {
      const response = exactResponse(inPieces(written, "text/event-stream", 1));
      const expected = written.replace("9007199254740993", '"9007199254740993"').replaceAll("\r\n", "\n");
      expect(await response.text()).toBe(expected);
    });
  });

  it("makes a number that is too long an error of the message", async () => {
    const message = JSON.parse(await exact(RESULT.replace("9007199254740993", "1e4000"))) as unknown;
    expect(message).toEqual({
      jsonrpc: "2.0",
      id: 1,
      error: { code: -32_603, message: expect.stringContaining("result.structuredContent.n") as string },
    });
  });
});

describe("readExactLines", () => {
  it("passes whole lines to the buffer of the SDK, and refuses a line that is too long", () => {
    const transport = new StdioClientTransport({ command: "none", maxBufferSize: 1_000 });
    const received: string[] = [];
    const buffer = Reflect.get(transport, "_readBuffer") as { append(chunk: Buffer): void };
    const append = buffer.append.bind(buffer);
    buffer.append = (chunk) => {
      received.push(chunk.toString());
      append(chunk);
    };
    readExactLines(transport, 1_000);
    const text = `${RESULT}\n{}\n`;
    for (const byte of Buffer.from(text)) buffer.append(Buffer.from([byte]));
    expect(received).toEqual([`${EXACT}\n`, "{}\n"]);
    expect(() => buffer.append(Buffer.alloc(1_001, "x"))).toThrow("ReadBuffer exceeded");
  });
});

function deep(levels: number): Record<string, unknown> {
  let schema: Record<string, unknown> = {};
  for (let level = 0; level < levels; level += 1) schema = { items: schema };
  return schema;
}

describe("outputCheck", () => {
  const properties = {
    n: { type: "integer", minimum: 1, exclusiveMaximum: 2 ** 63 },
    s: { type: "string" },
  };
  const check = outputCheck({ type: "object", properties });

  it("takes long numbers as numbers, beside texts with the same digits", () => {
    const digits = "9007199254740993";
    expect(
      check({ exact: { n: digits, s: digits }, rounded: { n: Number(digits), s: digits } }),
    ).toBeUndefined();
  });

  it("takes a long number below a limit that the nearest double is at", () => {
    expect(check({ exact: { n: "9223372036854775807" } })).toBeUndefined();
    expect(check({ exact: { n: "9223372036854779001" } })).toContain("must be less than");
  });

  it("refuses other text, and long numbers beyond a limit", () => {
    expect(check({ exact: { n: "x" } })).toContain("must be an integer");
    expect(check({ exact: { n: "-9007199254740993" } })).toContain("must be at least 1");
  });

  it.each([
    { type: "string", pattern: "(?<=" },
    { $ref: "#/$defs/none" },
    { $schema: "http://json-schema.org/draft-04/schema#" },
  ])("accepts everything by the schema %j, which can't be compiled", (schema) => {
    expect(outputCheck(schema)({ exact: [1] })).toBeUndefined();
  });

  it.each([
    ["$schema", { $schema: "http://json-schema.org/draft-07/schema#" }],
    ["$schema", { $schema: "http://json-schema.org/draft-04/schema#" }],
    ["unknown keywords and formats", { nullable: false, "x-order": 1, format: "uint32" }],
    [
      "definitions",
      { properties: { n: { $ref: "#/definitions/n" } }, definitions: { n: { type: "integer" } } },
    ],
  ])("applies a schema with %s", (_, others) => {
    const schema = { type: "object", properties: { n: { type: "integer" } }, ...others };
    expect(outputCheck(schema)({ exact: { n: 1 } })).toBeUndefined();
    expect(outputCheck(schema)({ exact: { n: "x" } })).toBe("n must be an integer, got text");
  });

  it("matches patterns in linear time", () => {
    const slow = outputCheck({ properties: { a: { type: "string", pattern: "^(a+)+$" } } });
    expect(slow({ exact: { a: `${"a".repeat(40)}!` } })).toContain("a must match");
    expect(slow({ exact: { a: "aaa" } })).toBeUndefined();
  });

  it.each([
    ["patterns that compile to very much", { pattern: "((a{1000}){1000}){1000}" }],
    ["names of fields that do so", { patternProperties: { "((a{1000}){1000}){1000}": {} } }],
    ["very many schemas", { allOf: Array.from({ length: 100_000 }, () => ({ type: "array" })) }],
    ["a result that comes later", { $async: true, type: "object" }],
    ["schemas nested very deep", deep(20_000)],
  ])("accepts everything by a schema with %s", (_, schema) => {
    expect(outputCheck(schema)({ exact: [1] })).toBeUndefined();
  });

  it("keeps schemas with one $id apart", () => {
    outputCheck({ $id: "result", type: "string" });
    expect(outputCheck({ $id: "result", type: "array" })({ exact: [1] })).toBeUndefined();
  });
});
