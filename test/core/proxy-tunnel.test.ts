import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { readProxies } from "../../src/core/outgoing-proxy.ts";
import { openTunnel, ProxyError } from "../../src/core/proxy-tunnel.ts";
import { outgoingProxy } from "../support/outgoing-proxy.ts";
import { tlsServer } from "../support/tls-server.ts";
import { quietTime } from "../support/eventually.ts";
import { patiently } from "../support/patience.ts";

const at = (url: string) => readProxies({ HTTPS_PROXY: url }).proxies.all[0]!;

describe("a tunnel", () => {
  it("is refused when the proxy does not answer in time", async () => {
    const proxy = await outgoingProxy({ onConnect: () => undefined });
    const error: unknown = await openTunnel(at(proxy.url), "api.test:443", 50).catch(
      (cause: unknown) => cause,
    );
    expect(error).toBeInstanceOf(ProxyError);
    expect(error).toMatchObject({ code: "PROXY_TIMEOUT", transient: true });
  });

  it("outlives the time limit for opening it, and keeps bytes that came with the answer", async () => {
    const proxy = await outgoingProxy({
      onConnect: (socket) => {
        socket.write("HTTP/1.1 200 OK\r\n\r\nhello");
        socket.once("data", (bytes: Buffer) => socket.write(bytes));
      },
    });
    const limitMs = patiently(1_000);
    const socket = await openTunnel(at(proxy.url), "api.test:443", limitMs);
    await quietTime(limitMs + 50);
    expect(socket.destroyed).toBe(false);
    expect(String((await once(socket, "data"))[0])).toBe("hello");
    socket.write("again");
    expect(String((await once(socket, "data"))[0])).toBe("again");
    socket.destroy();
  });

  it("goes through a proxy with a certificate only if it is trusted", async () => {
    const target = await tlsServer({ trusted: false });
    const proxy = await outgoingProxy({ tls: true, route: () => target.port });
    const error: unknown = await openTunnel(at(proxy.url), "api.test:443").catch((cause: unknown) => cause);
    expect(error).toMatchObject({ code: "PROXY_TLS", transient: false });
    expect(proxy.received).toEqual([]);
  });
});
