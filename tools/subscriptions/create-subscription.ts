import { z } from "zod";
import { ProjectInput } from "../../schemas/project.ts";
import {
  IncludeValues,
  NewSubscription,
  SubscribedEvents,
  SubscribedTags,
  SubscribedWorkflows,
  SubscriptionFormat,
  SubscriptionName,
  SubscriptionUrl,
  UrlSecret,
} from "../../schemas/subscription.ts";
import { IdempotencyKey } from "../../schemas/workflow.ts";
import { iso } from "../../src/core/clock.ts";
import { AppError } from "../../src/core/errors.ts";
import { newSubscriptionId } from "../../src/core/ids.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { detailsOfSubscriptionChange } from "../../src/core/subscription-change-details.ts";
import type { SubscriptionRecord } from "../../src/core/subscription-ports.ts";
import { defineTool } from "../../src/core/tool.ts";
import { confirmationBy } from "../../src/core/values-grant.ts";
import { usageSubjectOf } from "../../src/core/usage-limits.ts";
import { projectFor } from "../projects/project-for.ts";
import { serializeSubscription } from "./serialize-subscription.ts";
import { targetIssues, workflowIssues } from "./target-issues.ts";

/** Maximum number of subscriptions of a project: each is asked for at the end of each run. */
export const MAX_SUBSCRIPTIONS = 50;

export const createSubscription = defineTool({
  name: "create_subscription",
  title: "Subscribe to events",
  description:
    "Delivers events of a project to a URL, as Standard Webhooks or as messages of a chat. The signing secret is only in this answer.",
  route: "POST /subscriptions",
  surfaces: ["rest"],
  scope: "admin",
  effect: "create",
  noStore: true,
  errors: ["project_not_found", "too_many_subscriptions", "idempotency_key_reused"],
  headers: { idempotency_key: "Idempotency-Key" },
  example: {
    name: "Alerts",
    url: "https://example.com/hooks/millrace",
    events: ["run.failed", "workflow.overdue"],
  },
  input: z.strictObject({
    name: SubscriptionName,
    project: ProjectInput,
    format: SubscriptionFormat.default("standard_webhooks"),
    url: SubscriptionUrl.optional(),
    url_secret: UrlSecret.optional(),
    events: SubscribedEvents,
    workflows: SubscribedWorkflows.default(null),
    tags: SubscribedTags.default(null),
    include_values: IncludeValues.default(false),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: NewSubscription,
  async run(
    { name, project: requested, format, url, url_secret, events, workflows, tags, include_values },
    ctx,
  ) {
    const project = await projectFor(ctx, "admin", requested);
    const target = { format, url: url ?? null, urlSecret: url_secret ?? null };
    const issues = [
      ...(await targetIssues(ctx, project, target)),
      ...(await workflowIssues(ctx, project, workflows)),
    ];
    if (issues.length > 0) throw invalidInput(issues);
    const { principal } = ctx.actor;
    const record: SubscriptionRecord = {
      ...target,
      id: newSubscriptionId(),
      project,
      name,
      events,
      workflows,
      tags,
      includeValues: include_values,
      generation: 1,
      previousUntil: null,
      pausedAt: null,
      pauseReason: null,
      failingSince: null,
      succeededAt: null,
      createdAt: iso(ctx.now()),
      createdBy: principal.owner,
      subject: usageSubjectOf(principal),
      ...confirmationBy(principal, iso(ctx.now())),
    };
    const created = await ctx.write(async (tx) => {
      if ((await tx.subscriptions.count({ project })) >= MAX_SUBSCRIPTIONS) throw tooMany(project);
      await tx.subscriptions.insert(record);
      await tx.recordAudit(record.id, undefined, {
        project,
        details: detailsOfSubscriptionChange(null, record),
      });
      return serializeSubscription(tx, record, ctx.now());
    });
    // Derived outside of the recorded result, because it must not be stored.
    const signer = { id: created.id, generation: record.generation };
    return { ...created, secret: format === "standard_webhooks" ? ctx.engine.signingSecret(signer) : null };
  },
});

const tooMany = (project: string): AppError =>
  new AppError(
    "too_many_subscriptions",
    `The project "${project}" has ${MAX_SUBSCRIPTIONS} subscriptions already, which is the maximum. Delete one that is not needed.`,
  );
