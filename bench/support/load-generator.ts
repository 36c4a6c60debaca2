/**
 * The load generator, a separate process. It uses raw sockets with one request at a time on each, and parses a response only
 * to find its end, so that it needs less CPU time than the server.
 */
import { connect, type Socket } from "node:net";

/** Placeholder in a request for a number that is different in each request. */
export const NUMBER_PLACEHOLDER = "@@@@@@@@";

export interface LoadRequest {
  port: number;
  request: string;
  status: number;
  connections: number;
  ms: number;
  /** The first number for `NUMBER_PLACEHOLDER`. */
  from: number;
}

export interface LoadResult {
  requests: number;
  ms: number;
  /** Percentiles of the response time, in milliseconds. */
  p50: number;
  p99: number;
  /** CPU time of the generator itself, in milliseconds. */
  cpuMs: number;
  bytes: number;
}

/** The length of the response at the start of `data`, or undefined while it is incomplete. */
function responseLength(data: Buffer, status: number): number | undefined {
  const head = data.indexOf("\r\n\r\n");
  if (head === -1) return undefined;
  const text = data.toString("latin1", 0, head);
  if (Number(text.slice(9, 12)) !== status)
    throw new Error(`Expected status ${status}, got: ${data.toString()}`);
  if (status === 304 || status === 204) return head + 4;
  const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
  if (length !== undefined)
    return data.length >= head + 4 + Number(length) ? head + 4 + Number(length) : undefined;
  // Chunked: requests are not pipelined, so the data ends with the response.
  return data.subarray(-5).equals(LAST_CHUNK) ? data.length : undefined;
}
const LAST_CHUNK = Buffer.from("0\r\n\r\n");

async function run({ port, request, status, connections, ms, from }: LoadRequest): Promise<LoadResult> {
  const template = Buffer.from(request);
  const placeholder = template.indexOf(NUMBER_PLACEHOLDER);
  let number = from;
  const next = (): Buffer => {
    if (placeholder === -1) return template;
    const bytes = Buffer.from(template);
    bytes.write(String(number).padStart(NUMBER_PLACEHOLDER.length, "0"), placeholder);
    number += 1;
    return bytes;
  };

  const sockets = await Promise.all(Array.from({ length: connections }, () => open(port)));
  const times: number[] = [];
  let bytes = 0;
  const cpu = process.cpuUsage();
  const start = performance.now();
  const end = start + ms;
  await Promise.all(
    sockets.map(
      (socket) =>
        new Promise<void>((resolve, reject) => {
          let data: Buffer = Buffer.alloc(0);
          let sent = performance.now();
          socket.on("data", (chunk) => {
            data = data.length === 0 ? chunk : Buffer.concat([data, chunk]);
            try {
              const length = responseLength(data, status);
              if (length === undefined) return;
              bytes += length;
              data = data.subarray(length);
            } catch (error) {
              reject(error);
              return;
            }
            const now = performance.now();
            times.push(now - sent);
            sent = now;
            if (now < end) socket.write(next());
            else resolve();
          });
          socket.once("close", () => reject(new Error("The server closed the connection.")));
          socket.write(next());
        }),
    ),
  );
  const elapsed = performance.now() - start;
  const used = process.cpuUsage(cpu);
  for (const socket of sockets) socket.removeAllListeners("close").destroy();
  const sorted = times.toSorted((a, b) => a - b);
  const percentile = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)]!;
  return {
    requests: times.length,
    ms: elapsed,
    p50: percentile(0.5),
    p99: percentile(0.99),
    cpuMs: (used.user + used.system) / 1000,
    bytes,
  };
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true }, () => resolve(socket));
    socket.once("error", reject);
  });
}

if (process.send !== undefined) {
  process.on("message", (job: LoadRequest) => {
    run(job).then(
      (done) => process.send!({ done }),
      (error: unknown) => process.send!({ error: String(error) }),
    );
  });
  process.on("disconnect", () => process.exit());
  process.send({ port: 0 });
}
