import type { AuthMode } from "../../schemas/user.ts";
import type { AccountsApi } from "../core/account-ports.ts";
import { type Clock, iso } from "../core/clock.ts";
import type { AccountMailer } from "../core/mail-port.ts";
import { generateApiKey } from "./api-keys.ts";
import { linkUrl, newLink } from "./links.ts";
import { accountMail } from "./mails.ts";

interface Parts {
  mode: AuthMode;
  mailer: AccountMailer;
  /** Where people reach the interface. */
  baseUrl: () => string;
  clock: Clock;
  /** How long a session lives unused. */
  idleMs: number;
  /** Is told why a mail could not be sent: for the log. */
  report: (error: unknown) => void;
}

/** The secrets of keys and links, and the post, for the operations. */
export function accountsApi({ mode: authMode, mailer, baseUrl, clock, idleMs, report }: Parts): AccountsApi {
  return {
    authMode,
    mailEnabled: mailer.configured,

    newKey(key, lineage) {
      const { value, record, digest } = generateApiKey(key, lineage, clock);
      return { value, record: { ...record, digest } };
    },

    newLink: (kind, userId) => newLink(kind, userId, clock),

    async sendLink(kind, to, token, by) {
      const base = baseUrl();
      const link = linkUrl(base, kind, token);
      if (!mailer.configured) return { sent: false, link };
      try {
        await mailer.send({ to, ...accountMail(kind, { link, by, instance: new URL(base).host }) });
        return { sent: true, link };
      } catch (error) {
        // A mail server that is down costs nobody an invitation: the link can be handed on.
        report(error);
        return { sent: false, link };
      }
    },

    idleSince: () => iso(clock.now() - idleMs),
  };
}
