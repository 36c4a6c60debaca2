/** A real outgoing proxy on loopback: tunnels (CONNECT) and requests with an absolute target, as the proxies of companies. */
import { createServer, type IncomingHttpHeaders, request as sendRequest, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect, type AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { onTestFinished } from "vitest";
import { TLS_FILES } from "./tls-server.ts";

interface ProxiedRequest {
  method: string;
  /** `host:port` of a tunnel, or the whole URL. */
  target: string;
  headers: IncomingHttpHeaders;
}

interface ProxyOptions {
  /** `user:password` that clients must send. */
  credentials?: string;
  /** Speaks TLS with its clients. */
  tls?: boolean;
  /** Where connections to a host and port really go: a port of loopback, or a status with which they are refused. */
  route?: (authority: string) => number | { status: number };
  /** Handles tunnels instead. */
  onConnect?: (socket: Duplex) => void;
}

export interface TestProxy {
  /** Without credentials. */
  url: string;
  port: number;
  received: ProxiedRequest[];
}

/** Starts a proxy that is closed at the end of the test. */
export async function outgoingProxy({
  credentials,
  tls = false,
  route = () => ({ status: 502 }),
  onConnect,
}: ProxyOptions = {}): Promise<TestProxy> {
  const received: ProxiedRequest[] = [];
  const expected =
    credentials === undefined ? undefined : `Basic ${Buffer.from(credentials).toString("base64")}`;
  const isRefused = (headers: IncomingHttpHeaders): boolean =>
    expected !== undefined && headers["proxy-authorization"] !== expected;
  const open = new Set<Duplex>();
  const keep = <T extends Duplex>(socket: T): T => {
    open.add(socket);
    socket.on("error", () => undefined);
    return socket;
  };
  const server: Server = tls ? createTlsServer(TLS_FILES) : createServer();
  server.on("connection", keep);
  server.on("connect", ({ url = "", headers }, client: Duplex, head: Buffer) => {
    received.push({ method: "CONNECT", target: url, headers });
    if (onConnect !== undefined) return onConnect(client);
    const to = isRefused(headers) ? { status: 407 } : route(url);
    if (typeof to !== "number")
      return void client.end(`HTTP/1.1 ${to.status} Refused\r\nContent-Length: 3\r\n\r\nno\n`);
    const upstream = keep(connect(to, "127.0.0.1"));
    upstream.once("connect", () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      upstream.write(head);
      client.pipe(upstream).pipe(client);
    });
    client.once("close", () => upstream.destroy());
    upstream.once("close", () => client.destroy());
  });
  server.on("request", (incoming, outgoing) => {
    const { method = "", url = "", headers } = incoming;
    received.push({ method, target: url, headers });
    if (isRefused(headers)) return void outgoing.writeHead(407).end();
    const target = URL.parse(url);
    if (target === null) return void outgoing.writeHead(400).end();
    const to = route(`${target.hostname}:${target.port === "" ? 80 : target.port}`);
    if (typeof to !== "number") return void outgoing.writeHead(to.status).end();
    const { "proxy-authorization": _, ...rest } = headers;
    const upstream = sendRequest(
      {
        host: "127.0.0.1",
        port: to,
        method,
        path: `${target.pathname}${target.search}`,
        headers: { ...rest, host: target.host },
      },
      (response) => {
        outgoing.writeHead(response.statusCode!, response.headers);
        response.pipe(outgoing);
      },
    );
    upstream.on("error", () => outgoing.destroy());
    return void incoming.pipe(upstream);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `${tls ? "https" : "http"}://127.0.0.1:${port}`, port, received };
}
