import { z } from "zod";
import {
  IncludeValues,
  SubscribedEvents,
  SubscribedTags,
  SubscribedWorkflows,
  Subscription,
  SubscriptionIdRef,
  SubscriptionName,
  SubscriptionUrl,
  UrlSecret,
} from "../../schemas/subscription.ts";
import { beforeAndAfter } from "../../src/core/audit-change.ts";
import { iso } from "../../src/core/clock.ts";
import { invalidInput } from "../../src/core/issues.ts";
import type { SubscriptionRecord } from "../../src/core/subscription-ports.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findSubscription } from "./find-subscription.ts";
import { serializeSubscription } from "./serialize-subscription.ts";
import { targetIssues, workflowIssues } from "./target-issues.ts";

export const updateSubscription = defineTool({
  name: "update_subscription",
  title: "Change a subscription",
  description:
    "Changes a subscription, pauses it or resumes it; what is left out stays. Events that happen while it is paused are not delivered, also not later.",
  route: "PATCH /subscriptions/:subscription_id",
  surfaces: ["rest"],
  scope: "admin",
  effect: "update",
  errors: ["subscription_not_found"],
  example: { paused: false },
  input: z.strictObject({
    subscription_id: SubscriptionIdRef,
    name: SubscriptionName.optional(),
    url: SubscriptionUrl.optional(),
    url_secret: UrlSecret.optional(),
    events: SubscribedEvents.optional(),
    workflows: SubscribedWorkflows.optional(),
    tags: SubscribedTags.optional(),
    include_values: IncludeValues.optional(),
    paused: z.boolean().optional().meta({ description: "Whether it is paused.", example: false }),
  }),
  output: Subscription,
  async run({ subscription_id: id, url, url_secret: urlSecret, ...input }, ctx) {
    const { format, project } = await findSubscription(ctx.read, id);
    const target =
      url === undefined && urlSecret === undefined
        ? undefined
        : { url: url ?? null, urlSecret: urlSecret ?? null };
    const issues = [
      ...(target === undefined ? [] : await targetIssues(ctx, project, { format, ...target })),
      ...(await workflowIssues(ctx, project, input.workflows ?? null)),
    ];
    if (issues.length > 0) throw invalidInput(issues);
    return ctx.write(async (tx) => {
      const before = await findSubscription(tx, id);
      const { name, events, workflows, tags, include_values: includeValues } = input;
      const given: Partial<SubscriptionRecord> = {
        ...target,
        ...(name !== undefined && { name }),
        ...(events !== undefined && { events }),
        ...(workflows !== undefined && { workflows }),
        ...(tags !== undefined && { tags }),
        ...(includeValues !== undefined && { includeValues }),
        ...pauseOf(before, input.paused, iso(ctx.now()), ctx.actor.principal.owner),
      };
      const after = { ...before, ...given };
      const changed = (Object.keys(given) as (keyof SubscriptionRecord)[]).filter(
        (field) => JSON.stringify(after[field]) !== JSON.stringify(before[field]),
      );
      if (changed.length === 0) return serializeSubscription(tx, before);
      await tx.subscriptions.update(id, given);
      await tx.recordAudit(id, undefined, {
        project,
        details: { changed, ...beforeAndAfter(auditedOf(before), auditedOf(after)) },
      });
      return serializeSubscription(tx, after);
    });
  },
});

/** What the audit log shows of a subscription: not its URL, which may contain a secret. */
const auditedOf = ({ name, events, workflows, tags, includeValues }: SubscriptionRecord) => ({
  name,
  events,
  workflows,
  tags,
  include_values: includeValues,
});

/** Pausing an already paused one keeps its reason. Resuming one that failed gives it its days again. */
function pauseOf(
  { pausedAt }: SubscriptionRecord,
  paused: boolean | undefined,
  at: string,
  by: string,
): Partial<SubscriptionRecord> {
  if (paused === undefined || paused === (pausedAt !== null)) return {};
  return paused
    ? { pausedAt: at, pauseReason: `Paused by ${by}.` }
    : { pausedAt: null, pauseReason: null, failingSince: null };
}
