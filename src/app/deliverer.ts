/** Opens what delivers events: to subscriptions over HTTP, and to people by mail. */
import { noticeMail } from "../auth/mails.ts";
import { createAccountMailer } from "../connections/mail/account-mailer.ts";
import { retryAfterMs } from "../connections/http/retry-after.ts";
import type { ConnectionViews } from "../core/connection-views.ts";
import type { EngineTransaction } from "../core/run-ports.ts";
import { deliveryAttempt, type SendEventMail } from "../engine/executor/deliveries/attempt.ts";
import { type Deliverer, deliverer } from "../engine/executor/deliveries/deliverer.ts";
import type { EventSummary } from "../engine/executor/deliveries/summary.ts";
import type { Instance } from "./instance.ts";
import { type Setup, webAddress } from "./services.ts";

interface Options {
  /** The id of the executor. */
  id: string;
  views: ConnectionViews;
  transaction: EngineTransaction;
}

export function openDeliverer(
  instance: Instance,
  setup: Setup,
  { id, views, transaction }: Options,
): Deliverer {
  const { read, log, meter, signingSecrets: secrets } = instance;
  const { clock, settings } = setup;
  return deliverer({
    executor: id,
    read,
    transaction,
    clock,
    log,
    meter,
    pauseFactor: setup.deliveries?.pauseFactor,
    attempt: deliveryAttempt({
      read,
      views,
      secrets,
      clock,
      baseUrl: () => webAddress(instance, settings),
      retryAfterMs,
      sendMail: eventMailer(instance, setup, views),
      timeoutMs: setup.deliveries?.timeoutMs,
    }),
  });
}

/** Whether there is a mail server: without one no mail is recorded, because none would ever be sent. */
export const isMailConfigured = ({ config, settings }: Setup): boolean =>
  createAccountMailer(config, settings.secrets).configured;

/** Users get mail as about their accounts; other addresses must be allowed, as those of email steps. */
function eventMailer({ read }: Instance, { config, settings }: Setup, views: ConnectionViews): SendEventMail {
  const accountMailer = createAccountMailer(config, settings.secrets);
  return async ({ to, project, summary, id }, signal) => {
    const mail = noticeMail(noticeOf(summary));
    const user = await read.users.findByEmail(to);
    if (user?.status === "active") return accountMailer.send({ to, ...mail }, { signal });
    const { mailer } = (await views.of(project)).connections;
    await mailer.send({ to: [to], ...mail, idempotencyKey: id }, { owner: to, signal });
  };
}

const noticeOf = ({ title, facts, link }: EventSummary) => ({
  subject: `Millrace: ${title}`,
  text: [`${title}.`],
  details: facts.map(([label, text]) => `${label}: ${text}`).join("\n"),
  button: link.label,
  url: link.url,
});
