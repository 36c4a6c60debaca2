import { type AddressInfo, connect, createServer } from "node:net";
import { SMTPServer } from "smtp-server";
import { describe, expect, onTestFinished, test } from "vitest";
import { Config } from "../../../schemas/config.ts";
import { createMailer } from "../../../src/connections/mail/index.ts";
import type { Mail } from "../../../src/core/connections.ts";
import { fixedSecrets } from "../../../src/core/secret-source.ts";
import { StepError } from "../../../src/core/step-errors.ts";
import { callOf } from "../../support/call-context.ts";
import { eventually, untilPassing } from "../../support/eventually.ts";

type ServerOptions = ConstructorParameters<typeof SMTPServer>[0];

interface Received {
  from: string;
  to: string[];
  user: unknown;
  raw: string;
}

const refusal = (code: number, text: string): Error => Object.assign(new Error(text), { responseCode: code });
const PLAIN: ServerOptions = { disabledCommands: ["STARTTLS"], allowInsecureAuth: true };

async function smtpServer(options: ServerOptions = {}): Promise<{ port: number; received: Received[] }> {
  const received: Received[] = [];
  const server = new SMTPServer({
    logger: false,
    closeTimeout: 1,
    onAuth: ({ username, password }, _session, done) =>
      password === "right" ? done(null, { user: username }) : done(refusal(535, "wrong password")),
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const { mailFrom, rcptTo } = session.envelope;
        received.push({
          from: mailFrom === false ? "" : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          user: session.user,
          raw: Buffer.concat(chunks).toString("utf8"),
        });
        done();
      });
    },
    ...options,
  });
  server.on("error", () => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { port: (server.server.address() as AddressInfo).port, received };
}

/** Passes a connection on, and records what the client sends. */
async function recordingRelay(target: number): Promise<{ port: number; sent(): string }> {
  const chunks: Buffer[] = [];
  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    for (const socket of [client, upstream]) socket.on("error", () => undefined);
    client.on("data", (chunk) => chunks.push(chunk));
    client.pipe(upstream).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return {
    port: (server.address() as AddressInfo).port,
    sent: () => Buffer.concat(chunks).toString("utf8"),
  };
}

const ALLOWED = { allowed_domains: ["example.com", "Example.ORG"] };

function sender(port: number, { smtp = {}, mail = ALLOWED, env = { MAIL_PASSWORD: "right" } } = {}) {
  const basic = {
    smtp_user: "millrace@example.com",
    smtp_password_var: "MAIL_PASSWORD",
    smtp_server: "127.0.0.1",
    smtp_port: port,
    ...smtp,
  };
  return createMailer(Config.parse({ authentication: { basic }, mail }), fixedSecrets(env));
}

const MAIL: Mail = {
  to: ["ada@example.com"],
  subject: "Hello",
  text: "A text.",
  idempotencyKey: "run:send:0:abc",
};
const call = callOf();

const failure = async (promise: Promise<unknown>): Promise<StepError> => {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(StepError);
  return error as StepError;
};

describe("mail", () => {
  test("is sent as the configured user, with the same Message-ID when it is sent again", async () => {
    const { port, received } = await smtpServer(PLAIN);
    const mail = { ...MAIL, cc: ["bob@example.org"], html: "<p>A text.</p>" };
    const first = await sender(port).send(mail, call);
    const second = await sender(port).send(mail, call);
    expect(first).toEqual({
      message_id: expect.stringMatching(/^<[0-9a-f]{40}@example\.com>$/),
      accepted: ["ada@example.com", "bob@example.org"],
    });
    expect(second).toEqual(first);
    expect(received).toHaveLength(2);
    expect(received[0]).toMatchObject({
      from: "millrace@example.com",
      to: ["ada@example.com", "bob@example.org"],
      user: "millrace@example.com",
    });
    expect(received[0]!.raw).toContain(`Message-ID: ${first.message_id}`);
    expect(received[0]!.raw).toContain("<p>A text.</p>");
    const other = await sender(port).send({ ...mail, idempotencyKey: "another" }, call);
    expect(other.message_id).not.toBe(first.message_id);
  });

  test("uses mail.from as the sender if it is set", async () => {
    const { port, received } = await smtpServer(PLAIN);
    const mail = { ...ALLOWED, from: "reports@example.net" };
    await sender(port, { smtp: { smtp_user: "no-address" }, mail }).send(MAIL, call);
    expect(received[0]!.from).toBe("reports@example.net");
  });

  test("refuses line breaks and several addresses in its subject and addresses", async () => {
    const { port, received } = await smtpServer(PLAIN);
    await sender(port).send({ ...MAIL, subject: "Hi\r\nBcc: eve@example.com\r\n\r\nBody" }, call);
    const { raw, to } = received[0]!;
    expect(raw).toContain("Subject: Hi Bcc: eve@example.com Body");
    expect(raw).not.toMatch(/^Bcc:/im);
    expect(to).toEqual(["ada@example.com"]);
    for (const address of [
      "ada@example.com\r\nBcc: eve@example.com",
      "ada@example.com, eve@evil.test",
      "<ada@example.com>",
    ]) {
      const error = await failure(sender(port).send({ ...MAIL, to: [address] }, call));
      expect(error).toMatchObject({ code: "input_invalid" });
    }
    expect(received).toHaveLength(1);
  });

  test("goes to the ASCII form of its domains, in the envelope and in its headers", async () => {
    const { port, received } = await smtpServer({ ...PLAIN, hideSMTPUTF8: true });
    const relay = await recordingRelay(port);
    const mail = { allowed_domains: ["bücher.example", "ПРИМЕР.рф"], from: "m@Почта.рф" };
    const to = ["ada@BÜCHER.example", "ada@пример.рф", "r&d/x@xn--bcher-kva.example"];
    const sent = await sender(relay.port, { mail }).send({ ...MAIL, to }, call);
    const ascii = ["ada@xn--bcher-kva.example", "ada@xn--e1afmkfd.xn--p1ai", "r&d/x@xn--bcher-kva.example"];
    // The server decodes the domains again, so the commands are read on their way to it.
    expect(relay.sent().match(/(?<=RCPT TO:<)[^>]+/g)).toEqual(ascii);
    expect(relay.sent()).toContain("MAIL FROM:<m@xn--80a1acny.xn--p1ai>");
    expect(received).toHaveLength(1);
    expect(received[0]!.raw.replaceAll(/\r\n[ \t]+/g, " ")).toContain(`To: ${ascii.join(", ")}\r\n`);
    expect(received[0]!.raw).toContain("From: m@xn--80a1acny.xn--p1ai\r\n");
    expect(sent.message_id).toMatch(/^<[0-9a-f]{40}@xn--80a1acny\.xn--p1ai>$/);
    expect(sent.accepted).toEqual(ascii);
  });

  test("goes to letters beyond ASCII before the @ where the server offers SMTPUTF8", async () => {
    const { port, received } = await smtpServer(PLAIN);
    const mail = { allowed_domains: ["пример.рф", "example.com"] };
    await sender(port, { mail }).send({ ...MAIL, to: ["дарья@пример.рф"], cc: ["dörte@example.com"] }, call);
    expect(received).toMatchObject([{ to: ["дарья@пример.рф", "dörte@example.com"] }]);
  });

  test("is not sent to letters beyond ASCII before the @ where the server does not", async () => {
    const commands: string[] = [];
    const { port, received } = await smtpServer({
      ...PLAIN,
      hideSMTPUTF8: true,
      onMailFrom: ({ address }, _session, done) => {
        commands.push(address);
        done();
      },
    });
    for (const mail of [
      { ...MAIL, to: ["dörte@example.com"] },
      { ...MAIL, cc: ["ada@example.org", "дарья@example.com"] },
    ]) {
      const error = await failure(sender(port).send(mail, call));
      expect(error).toMatchObject({ code: "mail_failed", transient: false });
      expect(error.message).toContain("does not offer SMTPUTF8 (RFC 6531)");
      expect(error.options.fix).toContain("ASCII before the @");
    }
    expect(commands).toEqual([]);
    expect(received).toEqual([]);
    const unreachable = await failure(sender(1).send({ ...MAIL, to: ["dörte@example.com"] }, call));
    expect(unreachable).toMatchObject({ code: "mail_failed", transient: true });
  });

  test("is sent only to allowed domains", async () => {
    const mail = { ...MAIL, cc: ["eve@evil.test", "eve@sub.example.com"] };
    const error = await failure(sender(1).send(mail, call));
    expect(error).toMatchObject({ code: "mail_refused", transient: false });
    expect(error.message).toBe(
      "Mail to evil.test, sub.example.com is not allowed; allowed domains: example.com, example.org.",
    );
    const none = await failure(sender(1, { mail: { allowed_domains: [] } }).send(MAIL, call));
    expect(none.message).toContain("no domain is allowed");
    expect(none.options.fix).toContain("mail.allowed_domains");
  });

  test("has a maximum number of recipients and a maximum size", async () => {
    const to = Array.from({ length: 51 }, (_, index) => `a${index}@example.com`);
    for (const mail of [
      { ...MAIL, to },
      { ...MAIL, to: [] },
      { ...MAIL, text: "x".repeat(1024 ** 2), html: "y" },
    ])
      expect(await failure(sender(1).send(mail, call))).toMatchObject({ code: "input_invalid" });
  });

  test("has a permanent error for a permanent refusal, and a transient one for a temporary refusal", async () => {
    for (const [code, transient] of [
      [550, false],
      [451, true],
    ] as const) {
      const { port } = await smtpServer({
        ...PLAIN,
        onRcptTo: (_address, _session, done) => done(refusal(code, "no such mailbox")),
      });
      const error = await failure(sender(port).send(MAIL, call));
      expect(error).toMatchObject({
        code: "mail_failed",
        transient,
        options: { details: { smtp_status: code } },
      });
      expect(error.message).toContain("no such mailbox");
    }
  });

  test("fails if the password is wrong, without repeating it", async () => {
    const { port } = await smtpServer(PLAIN);
    const error = await failure(sender(port, { env: { MAIL_PASSWORD: "wr0ng" } }).send(MAIL, call));
    expect(error).toMatchObject({ code: "environment", transient: false });
    expect(error.message).not.toContain("wr0ng");
    expect(error.options.fix).toContain("smtp_password_var");
  });

  test("fails with advice if the certificate is not trusted", async () => {
    const { port } = await smtpServer();
    const error = await failure(sender(port).send(MAIL, call));
    expect(error).toMatchObject({ code: "environment", transient: false });
    expect(error.message).toContain("is not trusted: ");
    expect(error.options.fix).toContain("NODE_EXTRA_CA_CERTS");
  });

  test("does not send the password unencrypted if encryption is required", async () => {
    let logins = 0;
    const { port, received } = await smtpServer({
      ...PLAIN,
      onAuth: (_auth, _session, done) => {
        logins += 1;
        done(null, { user: "anyone" });
      },
    });
    const error = await failure(sender(port, { smtp: { secure: "starttls" } }).send(MAIL, call));
    expect(error).toMatchObject({ code: "environment" });
    expect(error.message).toContain("does not offer an encrypted connection");
    expect([logins, received.length]).toEqual([0, 0]);
  });

  test("ends immediately when it is aborted while the server hangs", async () => {
    const received = Promise.withResolvers<void>();
    const { port } = await smtpServer({ ...PLAIN, onMailFrom: () => received.resolve() });
    const stop = new AbortController();
    const sending = failure(sender(port).send(MAIL, callOf(stop.signal)));
    await received.promise;
    stop.abort(new StepError("timeout", "The step took longer than 1m."));
    expect(await sending).toMatchObject({ code: "timeout" });
  });

  test("has a transient error if nothing listens", async () => {
    expect(await failure(sender(1).send(MAIL, call))).toMatchObject({
      code: "mail_failed",
      transient: true,
    });
  });
});

describe("a mailer", () => {
  test("reports why it can't be used", async () => {
    const none = createMailer(Config.parse({}), fixedSecrets({}));
    expect(none.unavailableReason()).toContain("authentication.basic");
    expect(await failure(none.send(MAIL, call))).toMatchObject({ code: "environment" });
    expect(sender(1, { env: { MAIL_PASSWORD: "" } }).unavailableReason()).toContain(
      "environment variable MAIL_PASSWORD",
    );
    expect(sender(1, { smtp: { smtp_user: "millrace" } }).unavailableReason()).toContain("mail.from");
    expect(sender(1).unavailableReason()).toBeNull();
  });

  test("has attachments in UTF-8, of which it takes 3 MiB", async () => {
    const { port, received } = await smtpServer(PLAIN);
    const csv = "name;total\nZoë;3\n";
    const attachments = [
      { name: "orders für heute.csv", content: csv, content_type: "text/csv" },
      { name: "orders.json", content: "[]" },
    ];
    await sender(port).send({ ...MAIL, attachments }, call);
    const { raw } = received[0]!;
    expect(raw).toContain("Content-Type: text/csv; charset=utf-8;");
    expect(raw).toContain("Content-Type: application/json; name=orders.json");
    expect(raw.replaceAll("\r\n", "")).toContain(Buffer.from(csv).toString("base64"));
    expect(
      await failure(
        sender(port).send(
          { ...MAIL, attachments: [{ name: "a.txt", content: "ä".repeat(1_600_000) }] },
          call,
        ),
      ),
    ).toMatchObject({
      code: "input_invalid",
      message: "The attachments have 3200000 bytes; at most 3 MiB are allowed.",
    });
  });
});

describe("the mails of several owners", () => {
  test("take turns: a flood of one leaves a connection for the next, and is never ahead by more than its connections", async () => {
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const { port } = await smtpServer({
      ...PLAIN,
      // Accepts a mail when the test says so.
      onData: (stream, { envelope }, done) => {
        stream.on("end", () => {
          begun.push(envelope.rcptTo[0]!.address);
          ends.push(() => done());
        });
        stream.resume();
      },
    });
    const mailer = sender(port);
    const send = (owner: string, count: number) =>
      Array.from({ length: count }, (_, number) =>
        mailer.send(
          { ...MAIL, to: [`${owner}@example.com`], idempotencyKey: `${owner} ${number}` },
          callOf(undefined, owner),
        ),
      );
    const flood = send("loop", 30);
    await eventually(() => begun[5], "the connections of one owner");
    const other = send("honest", 2);
    await eventually(() => begun[6], "the mail of another owner");
    expect(begun).toEqual([...Array.from({ length: 6 }, () => "loop@example.com"), "honest@example.com"]);
    await untilPassing(() => {
      for (const end of ends.splice(0)) end();
      expect(begun).toHaveLength(32);
    });
    for (const end of ends.splice(0)) end();
    await Promise.all([...flood, ...other]);
    // Its second mail came after at most as many of the flood as there are connections.
    expect(begun.indexOf("honest@example.com", 7)).toBeLessThan(7 + 8);
  });
});
