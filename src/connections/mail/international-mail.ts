/**
 * Mail to addresses with letters beyond ASCII before the @ (RFC 6531). The mail library sends them to every server; one without the
 * extension would refuse them, deliver them to another mailbox, or refuse them later, with a mail that nobody reads.
 */
import { StepError } from "../../core/step-errors.ts";
import type { TransportOptions } from "./transport-options.ts";

const needsExtension = (address: string): boolean =>
  /[\u0080-\uFFFF]/.test(address.slice(0, address.lastIndexOf("@")));

/** Asks the mail server for its extensions, if an address needs one. @throws StepError mail_failed */
export async function requireInternationalMail(
  addresses: readonly string[],
  options: TransportOptions,
  signal: AbortSignal,
): Promise<void> {
  const address = addresses.find(needsExtension);
  if (address === undefined || (await offersExtension(options, signal))) return;
  throw new StepError(
    "mail_failed",
    `The mail server ${options.host}:${options.port} can't send to or from "${address}": it does not offer SMTPUTF8 (RFC 6531), which letters beyond ASCII before the @ need.`,
    {
      transient: false,
      fix: "Use an address with ASCII before the @ (the domain may have any letters), or ask the operator for a mail server with SMTPUTF8.",
    },
  );
}

async function offersExtension(options: TransportOptions, signal: AbortSignal): Promise<boolean> {
  const { default: SmtpConnection } = await import("nodemailer/lib/smtp-connection");
  const connection = new SmtpConnection(options);
  const close = (): void => connection.close();
  signal.addEventListener("abort", close, { once: true });
  try {
    return await new Promise<boolean>((resolve, reject) => {
      connection.once("error", reject);
      connection.once("end", () => reject(new Error("Connection closed")));
      // The last response is the one to EHLO then, over TLS if the connection is encrypted.
      connection.connect((error) => {
        if (error) reject(error);
        else resolve(/^250[ -]SMTPUTF8\b/im.test(connection.lastServerResponse || ""));
      });
    });
  } finally {
    signal.removeEventListener("abort", close);
    close();
  }
}
