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
import { invalidInput } from "../../src/core/issues.ts";
import type { SubscriptionRecord } from "../../src/core/subscription-ports.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findSubscription } from "./find-subscription.ts";
import { pauseOf, saveSubscription } from "./save-subscription.ts";
import { serializeSubscription } from "./serialize-subscription.ts";
import { targetIssues, workflowIssues } from "./target-issues.ts";

export const updateSubscription = defineTool({
  name: "update_subscription",
  title: "Change a subscription",
  description:
    "Changes a subscription, pauses it or resumes it; what is left out stays. Values of runs go out in the name of who last set url, url_secret or include_values. Events that happen while it is paused are not delivered, also not later.",
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
        ...pauseOf(before, input.paused, ctx),
      };
      return serializeSubscription(tx, await saveSubscription(ctx, tx, before, given), ctx.now());
    });
  },
});
