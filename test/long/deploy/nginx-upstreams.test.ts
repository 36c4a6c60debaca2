/** How nginx with the shipped configuration handles failing copies, which are small fake servers. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { httpsRequest } from "../../support/https.ts";
import { freePorts, startNginx } from "../../support/nginx.ts";

type Behaviour = (req: IncomingMessage, res: ServerResponse) => void;

interface FakeCopy {
  port: number;
  /** Every request but those for /health: method and path. */
  seen: string[];
  /** Those for /health. */
  probes: number;
}

const serves: Behaviour = (_req, res) => void res.end("{}");
/** Reads the whole request, then closes the connection. */
const breaksOff: Behaviour = (req) => void req.resume().once("end", () => req.socket.destroy());

async function fakeCopy(port: number, answer: Behaviour, health = 200): Promise<FakeCopy> {
  const copy: FakeCopy = { port, seen: [], probes: 0 };
  const server = createServer((req, res) => {
    if (req.url === "/health") {
      copy.probes += 1;
      expect([req.method, req.headers["x-api-key"]]).toEqual(["GET", undefined]);
      return void res.writeHead(health).end("{}");
    }
    copy.seen.push(`${req.method} ${req.url}`);
    return answer(req, res);
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return copy;
}

/** Two copies of both servers behind nginx, each with one behaviour and health. */
async function behindNginx(first: [Behaviour, number?], second: [Behaviour, number?]) {
  const [https, http, ...ports] = (await freePorts(6)) as [number, number, ...number[]];
  const copies = await Promise.all(
    ports.map((port, index) => fakeCopy(port, ...(index % 2 === 0 ? first : second))),
  );
  const { url } = await startNginx({ https, http, web: ports.slice(0, 2), mcp: ports.slice(2) });
  return { url, web: copies.slice(0, 2), mcp: copies.slice(2) };
}

const seenBy = (copies: readonly FakeCopy[]): string[] => copies.flatMap(({ seen }) => seen);

describe("nginx's upstreams", () => {
  it.each([
    ["POST", 502, 1],
    ["PATCH", 502, 1],
    ["GET", 200, 2],
    ["DELETE", 200, 2],
  ])(
    "retries idempotent requests once after a copy closed the connection: %s",
    async (method, status, times) => {
      const { url, web } = await behindNginx([breaksOff], [serves]);
      // The first request goes to the first copy, unless the request for /health did.
      let answer = await httpsRequest(method, `${url}/workflows`);
      if (web[0]!.seen.length === 0) {
        web[1]!.seen.length = 0;
        answer = await httpsRequest(method, `${url}/workflows`);
      }
      expect(answer.status).toBe(status);
      expect(seenBy(web)).toHaveLength(times);
    },
  );

  it("sends no further requests to a copy whose /health says 503", async () => {
    const { url, web, mcp } = await behindNginx([serves, 503], [serves]);
    for (const [path, [ending, other]] of [
      ["/workflows", web],
      ["/mcp", mcp],
    ] as const) {
      for (let i = 0; ending!.probes === 0; i += 1) {
        if (i === 2_000) throw new Error("nginx never asked the copy how it is");
        await httpsRequest("POST", url + path, { body: {}, headers: { "X-API-Key": "secret" } });
      }
      const before = [ending!.seen.length, other!.seen.length];
      for (let i = 0; i < 50; i += 1) {
        const { status } = await httpsRequest("POST", url + path, { body: {} });
        expect(status).toBe(200);
      }
      // One request may have been in transit.
      expect(ending!.seen.length - before[0]!).toBeLessThanOrEqual(1);
      expect(other!.seen.length - before[1]!).toBeGreaterThanOrEqual(49);
    }
  });

  it("checks health at most ten times a second, and balances the requests", async () => {
    const { url, web } = await behindNginx([serves], [serves]);
    const start = performance.now();
    for (let i = 0; i < 300; i += 1) await httpsRequest("GET", `${url}/workflows`);
    const seconds = (performance.now() - start) / 1000;
    const [one, two] = web.map(({ seen }) => seen.length) as [number, number];
    expect(Math.abs(one - two)).toBeLessThan(60);
    expect(web[0]!.probes + web[1]!.probes).toBeLessThanOrEqual(10 * seconds + 2);
  });

  it("still sends requests when no copy is healthy", async () => {
    const { url, web } = await behindNginx([serves, 503], [serves, 503]);
    for (let i = 0; i < 300 || web.some(({ probes }) => probes === 0); i += 1) {
      if (i === 2_000) throw new Error("nginx never asked the copies how they are");
      expect((await httpsRequest("POST", `${url}/workflows`, { body: {} })).status).toBe(200);
    }
  });
});
