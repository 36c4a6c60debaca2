/** Which failures leave open whether the receiver got the request: those of a connection that broke after it was sent. */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { SMTPServer } from "smtp-server";
import { describe, expect, it, onTestFinished } from "vitest";
import { Config } from "../../schemas/config.ts";
import { httpStepError } from "../../src/connections/http/errors.ts";
import { createHttpClient } from "../../src/connections/http/index.ts";
import { createMailer } from "../../src/connections/mail/index.ts";
import { createMcpServers } from "../../src/connections/mcp-servers/index.ts";
import { fixedSecrets } from "../../src/core/secret-source.ts";
import { httpStep } from "../../src/steps/http.ts";
import { callOf } from "../support/call-context.ts";
import { mockHttpServer, parseConfig, stepErrorOf } from "../support/mock-http-server.ts";
import { type Reply, scriptedMcpServer, sends } from "../support/scripted-mcp-server.ts";

/** The port of a TCP server that calls the handler for each connection. */
async function peer(handle: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    handle(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A port where nothing listens, because its server has just closed. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => void server.close(resolve));
  return port;
}

const isUnanswered = async (work: Promise<unknown>): Promise<boolean> =>
  (await stepErrorOf(work)).options.unanswered === true;

/** Calls a tool of a server. */
async function callAt(url: string): Promise<unknown> {
  const servers = createMcpServers(
    Config.parse({ mcp_servers: [{ name: "peer", url: `${url}/mcp` }] }),
    fixedSecrets({}),
    { now: Date.now },
  );
  onTestFinished(() => servers.close());
  return servers.call("peer", "add", {}, { idempotencyKey: "k" }, callOf());
}

/** Calls a tool of a server that replies like this. */
async function callWith(reply: Reply): Promise<unknown> {
  const { url } = await scriptedMcpServer({ "tools/call": reply });
  return callAt(url);
}

/** A mailer for a server on loopback. */
const mailer = (port: number) =>
  createMailer(
    Config.parse({
      authentication: {
        basic: {
          smtp_user: "millrace@example.com",
          smtp_password_var: "MAIL_PASSWORD",
          smtp_server: "127.0.0.1",
          smtp_port: port,
        },
      },
      mail: { allowed_domains: ["example.com"] },
    }),
    fixedSecrets({ MAIL_PASSWORD: "right" }),
  );
const send = (port: number): Promise<unknown> =>
  mailer(port).send(
    { to: ["ada@example.com"], subject: "Hello", text: "A text.", idempotencyKey: "k" },
    callOf(),
  );

/** The port of a mail server that does this with a text. */
async function smtpThat(
  onData: NonNullable<ConstructorParameters<typeof SMTPServer>[0]>["onData"],
): Promise<number> {
  const server = new SMTPServer({
    logger: false,
    closeTimeout: 1,
    disabledCommands: ["STARTTLS"],
    allowInsecureAuth: true,
    onAuth: ({ username }, _session, done) => done(null, { user: username }),
    ...(onData !== undefined && { onData }),
  });
  server.on("error", () => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return (server.server.address() as AddressInfo).port;
}

describe("a request of an http step", () => {
  const client = createHttpClient(parseConfig({ http: { allowed_hosts: ["127.0.0.1"] } }), fixedSecrets({}));
  const post = (url: string): Promise<unknown> =>
    client.send({ method: "POST", url, headers: {}, body: { amount: 1 }, maxBytes: 1_000 }, callOf());

  it("is unanswered where the connection ends after it, also in the middle of the answer", async () => {
    const cuts: ((socket: Socket) => void)[] = [
      (socket) => socket.once("data", () => socket.destroy()),
      (socket) =>
        socket.once("data", () => socket.end("HTTP/1.1 201 Created\r\nContent-Length: 99\r\n\r\n{")),
      (socket) => socket.once("data", () => socket.end("no HTTP at all")),
    ];
    for (const cut of cuts)
      expect(await isUnanswered(post(`http://127.0.0.1:${await peer(cut)}/`))).toBe(true);
  });

  it("is not sent where nothing listens or TLS fails", async () => {
    expect(await isUnanswered(post(`http://127.0.0.1:${await closedPort()}/`))).toBe(false);
    const plain = await mockHttpServer((_request, response) => void response.end());
    expect(await isUnanswered(post(`https://${plain.host}/`))).toBe(false);
  });

  it.each(["ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH", "EPROTO"])(
    "is unanswered where an open connection fails with %s, which says nothing of what was sent",
    (code) => {
      const cause = Object.assign(new Error(`read ${code}`), { code, errno: -110, syscall: "read" });
      const failed = Object.assign(new TypeError("fetch failed"), { cause });
      for (const error of [failed, cause]) expect(httpStepError(error, "bank").options.unanswered).toBe(true);
    },
  );

  it("is answered by a status, but not by that of a gateway without an answer", async () => {
    for (const [status, expected] of [
      [500, false],
      [502, true],
      [503, false],
      [504, true],
      [429, false],
    ] as const) {
      const { url } = await mockHttpServer((_request, response) => void response.writeHead(status).end());
      const fields = {
        method: "POST",
        url,
        headers: {},
        query: {},
        accept_status: [],
        max_bytes: 1_000,
      } as const;
      const context = {
        ...callOf(),
        connections: { http: client },
        idempotencyKey: "k",
        now: Date.now,
        trace: {},
      };
      expect([status, await isUnanswered(httpStep.run(fields as never, context as never))]).toEqual([
        status,
        expected,
      ]);
    }
  });
});

describe("a call of a tool", () => {
  it("is unanswered where the server closes the connection, or a gateway has no answer", async () => {
    expect(await isUnanswered(callWith((response) => void response.socket!.destroy()))).toBe(true);
    expect(await isUnanswered(callWith(sends("", "text/plain", 504)))).toBe(true);
  });

  it("is answered by a refusal, and not sent where nothing listens", async () => {
    expect(await isUnanswered(callWith(sends("busy", "text/plain", 503)))).toBe(false);
    expect(await isUnanswered(callAt(`http://127.0.0.1:${await closedPort()}`))).toBe(false);
  });
});

describe("a mail", () => {
  it("is unanswered where the server closes the connection after its text", async () => {
    const port = await smtpThat((stream) => {
      stream.resume();
      stream.once("end", () => {
        for (const socket of sockets) socket.destroy();
      });
    });
    const sockets: Socket[] = [];
    const relay = await peer((socket) => {
      const upstream = connect(port, "127.0.0.1");
      upstream.on("error", () => undefined);
      sockets.push(socket, upstream);
      socket.pipe(upstream).pipe(socket);
    });
    expect(await isUnanswered(send(relay))).toBe(true);
  });

  it("is answered by a refusal, and not sent where nothing listens", async () => {
    const refusing = await smtpThat((stream, _session, done) => {
      stream.resume();
      stream.once("end", () => done(Object.assign(new Error("full"), { responseCode: 452 })));
    });
    expect(await isUnanswered(send(refusing))).toBe(false);
    expect(await isUnanswered(send(await closedPort()))).toBe(false);
  });
});
