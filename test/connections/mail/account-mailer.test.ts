import { createServer, type AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";
import { describe, expect, onTestFinished, test } from "vitest";
import { Config } from "../../../schemas/config.ts";
import { accountMail } from "../../../src/auth/mails.ts";
import { createAccountMailer } from "../../../src/connections/mail/account-mailer.ts";
import { AppError } from "../../../src/core/errors.ts";
import { fixedSecrets } from "../../../src/core/secret-source.ts";
import { smtpPeer } from "../../support/mock-smtp-server.ts";

const PASSWORD = "sw0rdfish";

function mailerTo(port: number, { env = { MAIL_PASSWORD: PASSWORD }, atMost = 5_000, smtp = {} } = {}) {
  const basic = {
    smtp_user: "millrace@example.com",
    smtp_password_var: "MAIL_PASSWORD",
    smtp_server: "127.0.0.1",
    smtp_port: port,
    ...smtp,
  };
  // Workflows may not send mail to any domain.
  return createAccountMailer(Config.parse({ authentication: { basic } }), fixedSecrets(env), atMost);
}

const LINK = "https://millrace.example.com/ui/link#0123456789abcdefghijABCDEFGHIJ01";
const MAIL = {
  to: "ada@example.com",
  ...accountMail("invitation", { link: LINK, by: "ann@example.com", instance: "millrace.example.com" }),
};

async function failure(promise: Promise<unknown>): Promise<AppError> {
  const error = await promise.then(
    () => undefined,
    (it: unknown) => it,
  );
  expect(error).toBeInstanceOf(AppError);
  expect(JSON.stringify([(error as AppError).message, (error as AppError).details])).not.toContain(PASSWORD);
  return error as AppError;
}

/** Returns a decoded part of a raw mail. */
function partOf(raw: string, type: string): string {
  const part = raw.split(/^--.*$/m).find((it) => it.includes(`Content-Type: ${type}`)) ?? "";
  const [head = "", ...body] = part.trimStart().split(/\r?\n\r?\n/);
  const text = body.join("\r\n\r\n");
  if (!/quoted-printable/i.test(head)) return text;
  const bytes = text
    .replaceAll(/=\r?\n/g, "")
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString("utf8");
}

async function refusingServer(options: ConstructorParameters<typeof SMTPServer>[0]): Promise<number> {
  const server = new SMTPServer({
    logger: false,
    closeTimeout: 1,
    disabledCommands: ["STARTTLS"],
    allowInsecureAuth: true,
    onAuth: (_auth, _session, done) => done(null, { user: "anyone" }),
    ...options,
  });
  server.on("error", () => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return (server.server.address() as AddressInfo).port;
}

const refusal = (responseCode: number, text: string): Error =>
  Object.assign(new Error(text), { responseCode });

describe("a mail about an account", () => {
  test("is sent as text and as HTML, even if workflows may not send any mail", async () => {
    const { port, received } = await smtpPeer();
    await mailerTo(port).send(MAIL);
    const raw = received[0]!;
    expect(raw).toMatch(/^To: ada@example\.com\r$/m);
    expect(raw).toMatch(/^From: millrace@example\.com\r$/m);
    expect(raw).toMatch(/^Subject: Your invitation to Millrace on millrace\.example\.com\r$/m);
    expect(raw).toMatch(/^Auto-Submitted: auto-generated\r$/m);
    expect(raw).toContain("multipart/alternative");
    expect(partOf(raw, "text/plain")).toContain(`\n${LINK}\r\n`);
    expect(partOf(raw, "text/plain")).toContain("ann@example.com invites you");
    expect(partOf(raw, "text/html")).toContain(`<a href="${LINK}"`);
  });

  test("refuses additional headers or recipients", async () => {
    const { port, received } = await smtpPeer();
    const mailer = mailerTo(port);
    await mailer.send({ ...MAIL, subject: "Hi\r\nBcc: eve@example.com\r\n\r\nBody" });
    const [head] = received[0]!.split("\r\n\r\n");
    expect(head).toContain("Subject: Hi Bcc: eve@example.com Body");
    expect(head).not.toMatch(/^Bcc:/im);
    for (const to of [
      "ada@example.com\r\nBcc: eve@example.com",
      "ada@example.com, eve@example.com",
      "Ada <ada@example.com>",
      "",
    ])
      expect(await failure(mailer.send({ ...MAIL, to }))).toMatchObject({ code: "invalid_input" });
    expect(received).toHaveLength(1);
  });

  test("fails with advice for the admin if the server can't be reached", async () => {
    const error = await failure(mailerTo(1).send(MAIL));
    expect(error.code).toBe("connection_failed");
    expect(error.message).toContain("The mail server 127.0.0.1:1 cannot be reached");
  });

  test("fails with the server's message if it is refused", async () => {
    const port = await refusingServer({
      onRcptTo: (_address, _session, done) => done(refusal(550, "no such mailbox")),
    });
    const error = await failure(mailerTo(port).send(MAIL));
    expect(error.code).toBe("connection_failed");
    expect(error.message).toContain("no such mailbox");
  });

  test("fails with advice if the password is wrong, without repeating it", async () => {
    const port = await refusingServer({
      onAuth: (_auth, _session, done) => done(refusal(535, `no ${PASSWORD}`)),
    });
    const error = await failure(mailerTo(port).send(MAIL));
    expect(error.code).toBe("connection_failed");
    expect(error.message).toContain("refused the user and password (535). Check smtp_user");
  });

  test("is not sent unencrypted if encryption is required", async () => {
    const { port, received } = await smtpPeer();
    const error = await failure(mailerTo(port, { smtp: { secure: "starttls" } }).send(MAIL));
    expect(error.message).toContain("does not offer an encrypted connection");
    expect(received).toEqual([]);
  });

  test("fails in time if the server does not respond", async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void silent.close());
    const { port } = silent.address() as AddressInfo;
    const error = await failure(mailerTo(port, { atMost: 200 }).send(MAIL));
    expect(error.code).toBe("connection_failed");
    expect(error.message).toContain("within 0.2 s");
  });

  test("fails with the caller's reason when the caller aborts it", async () => {
    const received = Promise.withResolvers<void>();
    const port = await refusingServer({ onMailFrom: () => received.resolve() });
    const stop = new AbortController();
    // A caller with its own time limit aborts like this.
    const reason = new DOMException("gone", "TimeoutError");
    const sending = mailerTo(port).send(MAIL, { signal: stop.signal });
    await received.promise;
    stop.abort(reason);
    await expect(sending).rejects.toBe(reason);
    await expect(mailerTo(port).send(MAIL, { signal: stop.signal })).rejects.toBe(reason);
  });
});

describe("an account mailer", () => {
  test("is configured if a server, a password and a sender are set", async () => {
    expect(mailerTo(1).configured).toBe(true);
    expect(mailerTo(1, { env: { MAIL_PASSWORD: "" } }).configured).toBe(false);
    expect(mailerTo(1, { smtp: { smtp_user: "millrace" } }).configured).toBe(false);
    const none = createAccountMailer(Config.parse({}), fixedSecrets({}));
    expect(none.configured).toBe(false);
    const error = await failure(none.send(MAIL));
    expect(error).toMatchObject({ code: "connection_failed" });
    expect(error.message).toContain("authentication.basic");
  });
});
