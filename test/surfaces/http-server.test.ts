import { once } from "node:events";
import type { RequestListener } from "node:http";
import { connect } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { listen } from "../../src/surfaces/http-server.ts";
import { eventually } from "../support/eventually.ts";
import { socketClient, formatRequest } from "../support/sockets.ts";
import { startTimer } from "../support/expect-cost.ts";

/** Number of open sockets of this process: two for each connection whose client and server are both in it. */
const ends = (): number =>
  process.getActiveResourcesInfo().filter((resource) => resource === "TCPSocketWrap").length;

/** A client that sends something, and never closes its side. */
async function stubborn(port: number, text: string) {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  let received = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => (received += chunk));
  socket.write(text);
  await once(socket, "end");
  return received;
}

const connections = { total: 100, clientOf: () => undefined };

describe("a listener", () => {
  it("closes the connection of a refused client that does not close its side", async () => {
    const lifecycle = { draining: false };
    const { port, drain } = await listen(() => {}, { host: "127.0.0.1", port: 0, lifecycle, connections });
    onTestFinished(() => drain(0));
    const before = ends();
    expect(await stubborn(port, "nonsense\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 .*"code":"invalid_request"/s);
    await eventually(() => ends() === before + 1 || undefined, "the server's end to be closed");
  });

  it("answers a few pipelined requests, and disconnects a client that sends many", async () => {
    const lifecycle = { draining: false };
    let taken = 0;
    const answers: (() => void)[] = [];
    const take: RequestListener = (_req, res) => {
      taken += 1;
      answers.push(() => res.end("x"));
    };
    const { port, drain } = await listen(take, { host: "127.0.0.1", port: 0, lifecycle, connections });
    onTestFinished(() => drain(0));
    const url = `http://127.0.0.1:${port}`;
    const few = await socketClient(url);
    few.send(formatRequest("GET", "/").repeat(4));
    await eventually(() => taken === 4 || undefined, "four requests");
    for (const answer of answers) answer();
    await eventually(() => few.received().split("HTTP/1.1 200").length === 5 || undefined, "four answers");
    const many = await socketClient(url);
    many.send(formatRequest("GET", "/").repeat(1_000));
    await many.ended;
    expect(taken).toBe(8);
  });

  it("limits the number of connections by closing idle ones, and how long it waits for an incomplete request", async () => {
    const three = { total: 3, clientOf: () => undefined };
    const options = { host: "127.0.0.1", port: 0, connections: three, drainTimeoutMs: 100 };
    const lifecycle = { draining: false };
    const waiting: (() => void)[] = [];
    const handle: RequestListener = (req, res) => {
      if (req.url === "/wait") waiting.push(() => res.end("x"));
      else res.end("x");
    };
    const { port, drain } = await listen(handle, { ...options, lifecycle });
    const url = `http://127.0.0.1:${port}`;
    const [used, unused, incomplete] = [
      await socketClient(url),
      await socketClient(url),
      await socketClient(url),
    ];
    incomplete.send("GET / HTTP/1.1\r\nHost: x\r\n");
    used.send(formatRequest("GET", "/"));
    await used.waitFor("x");
    // Each new connection replaces the one that has been idle for longest.
    const busy = [await socketClient(url)];
    await unused.ended;
    busy[0]!.send(formatRequest("GET", "/wait"));
    busy.push(await socketClient(url));
    await incomplete.ended;
    busy[1]!.send(formatRequest("GET", "/wait"));
    busy.push(await socketClient(url));
    await used.ended;
    busy[2]!.send(formatRequest("GET", "/wait"));
    await eventually(() => waiting.length === 3 || undefined, "three requests in progress");
    const beyond = await socketClient(url);
    await beyond.ended;
    expect(beyond.received()).toBe("");
    for (const answer of waiting) answer();
    for (const one of busy) await one.waitFor("x");
    (await socketClient(url)).send("GET / HTTP/1.1\r\nHost: x\r\n");
    const expectElapsed = startTimer();
    await drain(0);
    expectElapsed(5_000);
  });
});
