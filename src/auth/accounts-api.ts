import type { AuthMode } from "../../schemas/user.ts";
import type { AccountsApi, MailSender } from "../core/account-ports.ts";
import { type Clock, iso } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import type { HeldMail } from "../core/mail-limits.ts";
import type { AccountMail, AccountMailer } from "../core/mail-port.ts";
import { usageSubjectOf } from "../core/usage-limits.ts";
import { generateApiKey } from "./api-keys.ts";
import { linkUrl, newLink } from "./links.ts";
import { accountMail, noticeMail } from "./mails.ts";

interface Parts {
  mode: AuthMode;
  mailer: AccountMailer;
  /** Counts a mail before it is sent. @returns why it must not be sent now */
  countMails(sender: MailSender, addresses: readonly string[]): Promise<HeldMail | undefined>;
  /** Returns the URL of the web interface. */
  baseUrl: () => string | Promise<string>;
  clock: Clock;
  /** How long a session may be unused, in milliseconds. */
  idleMs: number;
  /** Called with the error when a mail could not be sent. */
  report: (error: unknown) => void;
}

/** Creates API keys and links, and sends links by e-mail, for the operations. */
export function accountsApi({
  mode: authMode,
  mailer,
  countMails,
  baseUrl,
  clock,
  idleMs,
  report,
}: Parts): AccountsApi {
  /** @throws AppError rate_limited, or what the mailer throws */
  async function send(mail: AccountMail, sender: MailSender): Promise<void> {
    const held = await countMails(sender, [mail.to]);
    if (held !== undefined) throw new AppError("rate_limited", held.message);
    await mailer.send(mail, { owner: usageSubjectOf(sender.caller) });
  }

  return {
    authMode,
    get mailEnabled() {
      return mailer.configured;
    },

    newKey(key, lineage) {
      const { value, record, digest } = generateApiKey(key, lineage, clock);
      return { value, record: { ...record, digest } };
    },

    newLink: (kind, userId) => newLink(kind, userId, clock),

    async sendLink(kind, to, token, by, sender) {
      const base = await baseUrl();
      const link = linkUrl(base, kind, token);
      if (!mailer.configured) return { sent: false, link };
      try {
        const mail = { to, ...accountMail(kind, { link, by, instance: new URL(base).host }) };
        await (sender === null ? mailer.send(mail) : send(mail, sender));
        return { sent: true, link };
      } catch (error) {
        // The caller still gets the link, which can be sent in another way.
        report(error);
        return { sent: false, link };
      }
    },

    pageUrl: async (path) => `${(await baseUrl()).replace(/\/+$/, "")}/ui${path}`,

    async notify(to, notice, sender) {
      if (!mailer.configured) return;
      const mail = noticeMail(notice);
      for (const address of to)
        try {
          await send({ to: address, ...mail }, sender);
        } catch (error) {
          report(error);
        }
    },

    idleSince: () => iso(clock.now() - idleMs),
  };
}
