import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";
import { expect, onTestFinished } from "vitest";

/**
 * Starts a mail server on loopback that accepts every mail, until the end of the test. Returns its port and the raw mails.
 * @param isAccepted whether a password is accepted
 */
export async function smtpPeer(
  isAccepted: (password: string) => boolean = () => true,
): Promise<{ port: number; received: string[] }> {
  const received: string[] = [];
  const server = new SMTPServer({
    logger: false,
    closeTimeout: 1,
    disabledCommands: ["STARTTLS"],
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, done) =>
      isAccepted(password ?? "")
        ? done(null, { user: username })
        : done(Object.assign(new Error("wrong password"), { responseCode: 535 })),
    onData: (stream, _session, done) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        received.push(Buffer.concat(chunks).toString("utf8"));
        done();
      });
    },
  });
  // A client that is killed resets its connection.
  server.on("error", ({ code }: NodeJS.ErrnoException) => expect(code).toBe("ECONNRESET"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { port: (server.server.address() as AddressInfo).port, received };
}
