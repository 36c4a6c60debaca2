import type { AuthMode } from "../../schemas/user.ts";
import type { AccountsApi } from "../core/account-ports.ts";
import { type Clock, iso } from "../core/clock.ts";
import type { AccountMailer } from "../core/mail-port.ts";
import { generateApiKey } from "./api-keys.ts";
import { linkUrl, newLink } from "./links.ts";
import { accountMail, noticeMail } from "./mails.ts";

interface Parts {
  mode: AuthMode;
  mailer: AccountMailer;
  /** Returns the URL of the web interface. */
  baseUrl: () => string | Promise<string>;
  clock: Clock;
  /** How long a session may be unused, in milliseconds. */
  idleMs: number;
  /** Called with the error when a mail could not be sent. */
  report: (error: unknown) => void;
}

/** Creates API keys and links, and sends links by e-mail, for the operations. */
export function accountsApi({ mode: authMode, mailer, baseUrl, clock, idleMs, report }: Parts): AccountsApi {
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

    async sendLink(kind, to, token, by) {
      const base = await baseUrl();
      const link = linkUrl(base, kind, token);
      if (!mailer.configured) return { sent: false, link };
      try {
        await mailer.send({ to, ...accountMail(kind, { link, by, instance: new URL(base).host }) });
        return { sent: true, link };
      } catch (error) {
        // The caller still gets the link, which can be sent in another way.
        report(error);
        return { sent: false, link };
      }
    },

    pageUrl: async (path) => `${(await baseUrl()).replace(/\/+$/, "")}/ui${path}`,

    async notify(to, notice) {
      if (!mailer.configured) return;
      const mail = noticeMail(notice);
      for (const address of to)
        try {
          await mailer.send({ to: address, ...mail });
        } catch (error) {
          report(error);
        }
    },

    idleSince: () => iso(clock.now() - idleMs),
  };
}
