/** A mail server on loopback that accepts every mail. */
import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";
import type { Effect } from "../effects.ts";

interface Mail {
  to: string[];
  /** Headers and decoded bodies. */
  text: string;
}

export interface MailPeer {
  port: number;
  mails: Mail[];
  close(): Promise<void>;
}

const decodeQuotedPrintable = (text: string): string =>
  Buffer.from(
    text
      .replaceAll(/=\r?\n/g, "")
      .replaceAll(/=([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))),
    "latin1",
  ).toString("utf8");

/** Decodes the transfer encoding of a mail and of its parts. */
function decode(raw: string): string {
  const split = raw.search(/\r?\n\r?\n/);
  const [head, body] = [raw.slice(0, split), raw.slice(split).trimStart()];
  const boundary = /boundary="?([^";\r\n]+)/i.exec(head)?.[1];
  if (boundary !== undefined)
    return [head, ...body.split(`--${boundary}`).map((part) => decode(part.trimStart()))].join("\n");
  const encoding = /content-transfer-encoding:\s*(\S+)/i.exec(head)?.[1]?.toLowerCase();
  if (encoding === "base64") return `${head}\n\n${Buffer.from(body, "base64").toString("utf8")}`;
  return `${head}\n\n${encoding === "quoted-printable" ? decodeQuotedPrintable(body) : body}`;
}

/** Starts the mail server on a free port. */
export async function startMailPeer(effects: Effect[]): Promise<MailPeer> {
  const mails: Mail[] = [];
  const server = new SMTPServer({
    logger: false,
    closeTimeout: 1,
    disabledCommands: ["STARTTLS"],
    allowInsecureAuth: true,
    onAuth: ({ username }, _session, done) => done(null, { user: username }),
    onData: (stream, { envelope }, done) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const to = envelope.rcptTo.map(({ address }) => address);
        mails.push({ to, text: decode(Buffer.concat(chunks).toString("latin1")) });
        effects.push({ kind: "mail", summary: `mail to ${to.join(", ")}` });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
