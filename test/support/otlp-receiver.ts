/** A trace collector on loopback that records spans, received as OTLP over http/protobuf. */
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { onTestFinished } from "vitest";
import { eventually } from "./eventually.ts";

export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  /** Null for a root span. */
  parentId: string | null;
  state: string;
  name: string;
  /** 1 internal, 2 server, 3 client. */
  kind: number;
  /** Milliseconds. */
  start: number;
  end: number;
  attributes: Record<string, string | number>;
  links: { traceId: string; spanId: string }[];
  /** 2 is an error. */
  status: number;
  /** The resource attributes of the process. */
  resource: Record<string, string | number>;
}

export interface OtlpReceiver {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  url: string;
  spans: ReceivedSpan[];
  headers: IncomingHttpHeaders[];
  /** The environment with which a process sends its spans here without delay. */
  env: Record<string, string>;
  /** Waits for a matching span. */
  waitForSpan(found: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan>;
}

/** @param answer the status of responses; null to send none */
export async function otlpReceiver(answer: number | null = 200): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      headers.push(request.headers);
      if (answer === null) return;
      if (answer < 300) {
        const body = Buffer.concat(parts);
        spans.push(...decode(request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body));
      }
      response.writeHead(answer, { "content-type": "application/x-protobuf" }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    spans,
    headers,
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_BSP_SCHEDULE_DELAY: "50" },
    waitForSpan: (found) => eventually(() => spans.find(found), "a span"),
  };
}

/** Parses the fields of a protobuf message by number: bytes, or integers. @see https://protobuf.dev/programming-guides/encoding/ */
function fieldsOf(bytes: Buffer): Map<number, (Buffer | bigint)[]> {
  const fields = new Map<number, (Buffer | bigint)[]>();
  let at = 0;
  const varint = (): bigint => {
    for (let value = 0n, shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number): Buffer => bytes.subarray(at, (at += length));
  while (at < bytes.length) {
    const tag = Number(varint());
    const value = WIRE[tag & 7]!(varint, take);
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), value]);
  }
  return fields;
}

const WIRE: Record<number, (varint: () => bigint, take: (length: number) => Buffer) => Buffer | bigint> = {
  0: (varint) => varint(),
  1: (_, take) => take(8).readBigUInt64LE(),
  2: (varint, take) => take(Number(varint())),
  5: (_, take) => BigInt(take(4).readUInt32LE()),
};

type Fields = ReturnType<typeof fieldsOf>;
const messages = (fields: Fields, number: number): Fields[] =>
  (fields.get(number) ?? []).map((it) => fieldsOf(it as Buffer));
const hex = (fields: Fields, number: number): string =>
  (fields.get(number)?.[0] as Buffer | undefined)?.toString("hex") ?? "";
const text = (fields: Fields, number: number): string =>
  (fields.get(number)?.[0] as Buffer | undefined)?.toString() ?? "";
const number = (fields: Fields, at: number): number => Number(fields.get(at)?.[0] ?? 0n);

/** Millrace sends only strings and integers. */
const attributesOf = (fields: Fields, at: number): Record<string, string | number> =>
  Object.fromEntries(
    messages(fields, at).map((pair) => {
      const value = messages(pair, 2)[0]!;
      return [text(pair, 1), value.has(1) ? text(value, 1) : number(value, 3)];
    }),
  );

/** @see https://github.com/open-telemetry/opentelemetry-proto trace/v1/trace.proto */
const decode = (body: Buffer): ReceivedSpan[] =>
  messages(fieldsOf(body), 1).flatMap((resource) =>
    messages(resource, 2).flatMap((scope) =>
      messages(scope, 2).map((span) => ({
        traceId: hex(span, 1),
        spanId: hex(span, 2),
        state: text(span, 3),
        parentId: hex(span, 4) || null,
        name: text(span, 5),
        kind: number(span, 6),
        start: number(span, 7) / 1e6,
        end: number(span, 8) / 1e6,
        attributes: attributesOf(span, 9),
        links: messages(span, 13).map((link) => ({ traceId: hex(link, 1), spanId: hex(link, 2) })),
        status: number(messages(span, 15)[0] ?? new Map(), 3),
        resource: attributesOf(messages(resource, 1)[0]!, 1),
      })),
    ),
  );
