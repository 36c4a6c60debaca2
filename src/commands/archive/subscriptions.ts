/** Subscriptions in an export: what they deliver and where to. Their signing secrets belong to the instance. */
import { projectField, projectOf } from "../../../schemas/project.ts";
import { MAX_SUBSCRIPTIONS } from "../../../tools/subscriptions/create-subscription.ts";
import type { Readers, Writers } from "../../core/ports.ts";
import type { SubscriptionRecord } from "../../core/subscription-ports.ts";
import type { SubscriptionLine } from "./format.ts";

const PAUSED_BY_IMPORT =
  "Imported: its signing secret is a new one here, and the instance that exported it may still deliver. Resume it when its receiver is ready.";

export const subscriptionLine = (record: SubscriptionRecord): SubscriptionLine => ({
  kind: "subscription",
  id: record.id,
  ...projectField(record.project),
  name: record.name,
  format: record.format,
  url: record.url,
  url_secret: record.urlSecret,
  events: record.events as SubscriptionLine["events"],
  workflows: record.workflows && [...record.workflows],
  tags: record.tags && [...record.tags],
  include_values: record.includeValues,
  paused_at: record.pausedAt,
  pause_reason: record.pauseReason,
  created_at: record.createdAt,
  created_by: record.createdBy,
  subject: record.subject,
});

/** What keeps a line from being imported beside those that are here or precede it. */
export async function subscriptionIssues(
  read: Pick<Readers, "subscriptions">,
  line: SubscriptionLine,
  preceding: readonly SubscriptionLine[],
): Promise<string[]> {
  const project = projectOf(line);
  const others = preceding.filter((one) => projectOf(one) === project).length;
  const isFull = (await read.subscriptions.count({ project })) + others >= MAX_SUBSCRIPTIONS;
  return [
    ...((line.url === null) === (line.url_secret === null)
      ? ["either url or url_secret must be null, and not both. Correct one of them"]
      : []),
    ...(line.url !== null && line.format !== "standard_webhooks"
      ? [`url must be null, because the format is ${line.format}. Name a secret in url_secret`]
      : []),
    ...((line.paused_at === null) === (line.pause_reason === null)
      ? []
      : ["paused_at and pause_reason must both be null, or neither. Correct one of them"]),
    ...(isFull
      ? [
          `the project ${project} would have more than ${MAX_SUBSCRIPTIONS} subscriptions. Remove one of the lines`,
        ]
      : []),
  ];
}

/** Writes subscriptions that this instance lacks, paused. Their secrets are derived from the key of this instance. */
export async function writeSubscriptions(
  tx: Writers,
  lines: readonly SubscriptionLine[],
  now: string,
): Promise<void> {
  for (const line of lines) {
    const project = projectOf(line);
    await tx.subscriptions.insert({
      id: line.id,
      project,
      name: line.name,
      format: line.format,
      url: line.url,
      urlSecret: line.url_secret,
      events: line.events,
      workflows: line.workflows,
      tags: line.tags,
      includeValues: line.include_values,
      generation: 1,
      previousUntil: null,
      pausedAt: line.paused_at ?? now,
      pauseReason: line.pause_reason ?? PAUSED_BY_IMPORT,
      failingSince: null,
      succeededAt: null,
      createdAt: line.created_at,
      createdBy: line.created_by,
      subject: line.subject,
      // Nobody of this instance has seen where it delivers to, and keys are not imported.
      confirmedBy: null,
      confirmedLineage: null,
      confirmedAt: null,
    });
    await tx.recordAudit(line.id, undefined, { project, details: { name: line.name } });
  }
}
