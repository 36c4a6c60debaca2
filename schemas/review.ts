/** Change requests: the publication of a version, as one person asks for it and another one decides. */
import { z } from "zod";
import { PassedBacktest } from "./backtest-rule.ts";
import { PlannedWorkflow } from "./approval.ts";
import { text, timestamp, zonedTimestamp } from "./text.ts";

export const ReviewStatus = z
  .enum(["pending", "approved", "rejected", "withdrawn", "replaced", "outdated"])
  .meta({
    description:
      "`replaced`: another version was asked for. `outdated`: the workflow was unpublished, archived or moved, or the version was published without it.",
    example: "pending",
  });
export type ReviewStatus = z.infer<typeof ReviewStatus>;

export const ReviewId = text(100, 1).meta({
  description: "The change request's id, from publish_workflow or list_reviews.",
  example: "rev_Zr4mXw5pXq0a",
});

export const ReviewDigest = text(100, 1).meta({
  description: "The digest of what was read. Refused if it is no longer what would be published.",
  example: "q0aZr4mXw1kq0Zr4mXw5pX",
});

export const PlannedSchedule = z
  .strictObject({
    cron: z.string().meta({ example: "0 7 * * 1" }),
    timezone: z.string().meta({ example: "Europe/Berlin" }),
    overlap: z.string().meta({ example: "skip" }),
    next_runs: z
      .array(zonedTimestamp)
      .optional()
      .meta({ description: "The next five times; left out in requests of older releases.", example: [] }),
  })
  .meta({ description: "When it runs by itself; null for never." });
export type PlannedSchedule = z.infer<typeof PlannedSchedule>;

export const PlannedTrigger = z
  .strictObject({
    id: z.string().meta({ example: "pushed" }),
    signature: z.string().nullable().meta({
      description:
        "The scheme of the signature that its deliveries need; null for none: anyone who has the URL can start runs.",
      example: "github",
    }),
    if: z.string().optional().meta({ example: 'event.headers["x-github-event"] == "push"' }),
  })
  .meta({ description: "A webhook that starts it." });
export type PlannedTrigger = z.infer<typeof PlannedTrigger>;

export const PlannedAlert = z
  .strictObject({
    every: z.string().meta({ example: "24h" }),
    mail: z.array(z.string()).meta({
      description: "Who gets a mail, in addition to who publishes it.",
      example: ["ops@example.com"],
    }),
  })
  .meta({ description: "Within which time a run must succeed; left out where the version does not say." });
export type PlannedAlert = z.infer<typeof PlannedAlert>;

const ReviewedTool = z
  .strictObject({
    effects: z.array(z.string()).meta({ example: ["http POST https://example.com/"] }),
    read_only: z.boolean(),
  })
  .meta({ description: "What agents get as a tool of its own, once an admin allows it; null for no tool." });

export const ReviewPlan = z
  .strictObject({
    workflows: z.array(PlannedWorkflow).meta({
      description: "What each step does, of the version and of the workflows that it calls.",
    }),
    schedule: PlannedSchedule.nullable(),
    triggers: z
      .array(PlannedTrigger)
      .optional()
      .meta({ description: "The webhooks that start it; left out for none." }),
    must_succeed: PlannedAlert.optional(),
    tool: ReviewedTool.nullable(),
    saves_state: z.array(z.string()).meta({
      description: "The values of the workflow state that its runs write.",
      example: ["last_id"],
    }),
    break_callers: z.array(z.string()).meta({
      description: "Ids of callers that the request accepts to break.",
      example: ["monthly-report"],
    }),
  })
  .meta({ id: "ReviewPlan", description: "What the runs of the version can do once it is published." });
export type ReviewPlan = z.infer<typeof ReviewPlan>;

const ReviewExample = z
  .strictObject({
    name: z.string().optional().meta({ example: "an empty week" }),
    run_id: z.string().meta({ example: "run_8dkq2m0sfj3a" }),
    compared: z.boolean().meta({ description: "Whether its output was compared with an expected one." }),
    checked_up_to: z.string().optional().meta({
      description: "The step that it stopped at: it has effects, and the example does not give its output.",
      example: "send",
    }),
  })
  .meta({ description: "An example that ran as a trial before the request, and passed." });
export type ReviewExample = z.infer<typeof ReviewExample>;

export const Review = z
  .strictObject({
    id: z.string().meta({ example: "rev_Zr4mXw5pXq0a" }),
    project: z
      .string()
      .optional()
      .meta({ description: "Left out for the default project.", example: "finance" }),
    workflow_id: z.string().meta({ example: "weekly-revenue" }),
    version: z.int().meta({ description: "The version to publish.", example: 4 }),
    base_version: z
      .int()
      .nullable()
      .meta({ description: "The version that was published when it was asked; null for none.", example: 3 }),
    status: ReviewStatus,
    reason: z
      .string()
      .nullable()
      .meta({ description: "Why, as the requester says.", example: "Net figures" }),
    requested_at: timestamp,
    requested_by: z
      .string()
      .meta({ description: "The owner of the key, or the person.", example: "ann@example.com" }),
    key_name: z.string().meta({ description: "The name of the key.", example: "agent" }),
    decided_at: timestamp.nullable(),
    decided_by: z.string().nullable().meta({ example: "ben@example.com" }),
    comment: z.string().nullable().meta({ example: "Looks right." }),
    url: z.string().meta({
      description: "Its page in the web interface.",
      example: "https://millrace.example.com/ui/reviews/rev_Zr4mXw5pXq0a",
    }),
    digest: z.string().optional().meta({
      description: "Stands for all that is decided on. Only of `get_review`, as the fields below.",
      example: "q0aZr4mXw1kq0Zr4mXw5pX",
    }),
    changed: z.boolean().optional().meta({
      description: "Whether what would be published changed since it was asked, such as a called workflow.",
      example: false,
    }),
    compared_with: z.int().nullable().optional().meta({
      description: "The published version that `difference` starts from; null for none.",
      example: 3,
    }),
    difference: z.string().nullable().optional().meta({
      description:
        "The changed lines of the YAML form, with three lines around them; null if the versions are too long to compare here.",
      example: "- region: north\n+ region: south\n",
    }),
    plan: ReviewPlan.optional(),
    examples: z.array(ReviewExample).optional(),
    backtest: PassedBacktest.optional(),
    decidable: z
      .strictObject({
        by_you: z.boolean(),
        why_not: z.string().optional().meta({ example: "You wrote version 4." }),
      })
      .optional()
      .meta({ description: "Whether the caller may decide it now." }),
  })
  .meta({
    id: "Review",
    description: "A change request: somebody asks another person to publish a version.",
  });
export type Review = z.infer<typeof Review>;

/** The newest change request of a workflow, as get_workflow returns it. */
export const LastReview = Review.pick({
  id: true,
  version: true,
  status: true,
  decided_by: true,
  comment: true,
  url: true,
}).meta({ id: "LastReview", description: "The newest change request of a workflow." });

/** What publish_workflow answers where a person decides. */
export const RequestedReview = z
  .strictObject({
    id: z.string().meta({ example: "rev_Zr4mXw5pXq0a" }),
    status: z.literal("pending"),
    url: z.string().meta({ example: "https://millrace.example.com/ui/reviews/rev_Zr4mXw5pXq0a" }),
    detail: z.string(),
  })
  .meta({ description: "In a project with review: nothing is published yet, and what happens next." });
export type RequestedReview = z.infer<typeof RequestedReview>;
