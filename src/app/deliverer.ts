/** Opens what delivers events: to subscriptions over HTTP, and to people by mail. */
import { noticeMail } from "../auth/mails.ts";
import { createAccountMailer } from "../connections/mail/account-mailer.ts";
import { retryAfterMs } from "../connections/http/retry-after.ts";
import type { ConnectionViews } from "../core/connection-views.ts";
import type { EngineTransaction } from "../core/run-ports.ts";
import { deliveryAttempt, type SendEventMail } from "../engine/executor/deliveries/attempt.ts";
import { type Deliverer, deliverer } from "../engine/executor/deliveries/deliverer.ts";
import type { EventSummary } from "../engine/executor/deliveries/summary.ts";
import type { UsageLimits } from "../engine/executor/usage-limits.ts";
import type { Instance } from "./instance.ts";
import { type Setup, webAddress } from "./services.ts";

interface Options {
  /** The id of the executor. */
  id: string;
  views: ConnectionViews;
  transaction: EngineTransaction;
  usageLimits: Pick<UsageLimits, "countMails">;
}

export function openDeliverer(instance: Instance, setup: Setup, options: Options): Deliverer {
  const { id, views, transaction } = options;
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
      sendMail: eventMailer(instance, setup, options),
      timeoutMs: setup.deliveries?.timeoutMs,
    }),
  });
}

/** Whether there is a mail server: without one no mail is recorded, because none would ever be sent. */
export const isMailConfigured = ({ config, settings }: Setup): boolean =>
  createAccountMailer(config, settings.secrets).configured;

/**
 * Users get mail as about their accounts; other addresses must be allowed, as those of email steps. A mail counts for who published what
 * it is about, else for its recipient.
 */
function eventMailer(
  { read }: Instance,
  { config, settings }: Setup,
  { views, transaction, usageLimits }: Options,
): SendEventMail {
  const accountMailer = createAccountMailer(config, settings.secrets);
  return async ({ to, summary, id, event: { project, workflowId } }, signal) => {
    const expectation = workflowId === null ? undefined : await read.expectations.find(workflowId);
    const owner = expectation?.publishedBy ?? to;
    // In the limits of a person, alerts share as one more key of theirs: an agent that sends many mails can't use up the alerts, nor they its.
    const actor = { owner, keyName: "alerts", lineage: owner };
    const held = await transaction((tx) => usageLimits.countMails(tx, { actor, project }, [to]));
    if (held !== undefined) return held;
    const mail = noticeMail(noticeOf(summary));
    const user = await read.users.findByEmail(to);
    if (user?.status === "active") {
      await accountMailer.send({ to, ...mail }, { owner, signal });
      return undefined;
    }
    const { mailer } = (await views.of(project)).connections;
    await mailer.send({ to: [to], ...mail, idempotencyKey: id }, { owner, signal });
    return undefined;
  };
}

const noticeOf = ({ title, facts, link }: EventSummary) => ({
  subject: `Millrace: ${title}`,
  text: [`${title}.`],
  details: facts.map(([label, text]) => `${label}: ${text}`).join("\n"),
  button: link.label,
  url: link.url,
});
