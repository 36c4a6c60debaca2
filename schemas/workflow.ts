/** Workflows and their versions. */
import { z } from "zod";
import { Surface } from "./actor.ts";
import { PassedBacktest } from "./backtest-rule.ts";
import { foldText } from "./fold-text.ts";
import { AppliedFix, Issue } from "./problem.ts";
import { ProjectField } from "./project.ts";
import { LastReview } from "./review.ts";
import { LastRun } from "./run.ts";
import { ScheduleState } from "./schedule-state.ts";
import { shortSchemas } from "./short-schemas.ts";
import { checkJsonValue, text, timestamp, visible } from "./text.ts";

export const WorkflowStatus = z.enum(["draft", "published", "archived"]).meta({
  description: "`draft` until it is published; `archived` until it is restored.",
  example: "draft",
});
export type WorkflowStatus = z.infer<typeof WorkflowStatus>;

export const WorkflowName = visible("line", 200, 1).meta({
  description: "The name that people see; need not be unique.",
  example: "Weekly revenue",
});

export const WorkflowDescription = visible("lines", 10_000).meta({
  description: "What it is for, in a sentence or two: agents and people choose by it.",
  example: "Revenue by region for the last seven days, in two sentences.",
});

/** Two of the tags that filters take for one. */
function findSameTags(tags: readonly string[]): [string, string] | undefined {
  const seen = new Map<string, string>();
  for (const tag of tags) {
    const first = seen.get(foldText(tag));
    if (first !== undefined) return [first, tag];
    seen.set(foldText(tag), tag);
  }
  return undefined;
}

/** Tags as they are stored. An older release accepted some that differ only in case. */
export const StoredTags = z.array(visible("line", 50, 1)).max(20);

export const WorkflowTags = StoredTags.check((ctx) => {
  const [first, second] = findSameTags(ctx.value) ?? [];
  if (second === undefined) return;
  ctx.issues.push({
    code: "custom",
    params: { code: "duplicate" },
    message:
      first === second
        ? "must not contain the same tag twice"
        : `must not contain the same tag twice: ${first} and ${second} differ only in case or in how their accents are written`,
    continue: true,
    input: ctx.value,
  });
}).meta({ description: "Tags to filter lists by.", example: ["finance", "weekly"], uniqueItems: true });

/** An id of a workflow. In other projects than the default one, it begins with the project and a dot. */
export const WORKFLOW_ID = /^(?=.{1,200}$)(?:[a-z0-9][a-z0-9-]{0,39}\.)?[a-z0-9][a-z0-9-]*$/;

/** Ids that are paths of the API (`POST /workflows/validate`) or of the web interface (`/workflows/new`). */
export const RESERVED_WORKFLOW_IDS: ReadonlySet<string> = new Set(["validate", "new"]);

/** An id in a request. Any text is accepted, so that a wrong one is reported as not found, with a near match. */
export const WorkflowIdRef = text(200, 1).meta({
  description: "The workflow's id, from list_workflows.",
  example: "weekly-revenue",
});

/** The id of a new workflow. Its form is checked with its project (src/core/workflow-id.ts). */
export const NewWorkflowId = text(200, 1)
  .meta({
    description:
      "Lower-case letters, digits and -, in other projects than the default one after the project and a dot. Left out, a slug of the name.",
    example: "weekly-revenue",
  })
  .register(shortSchemas, { type: "string", description: "Default: from the name." });

/** A definition. Any object is accepted here: the workflow language has its own schema and checker. */
export const WorkflowDefinition = z
  .custom<Record<string, unknown>>(
    (value) => typeof value === "object" && value !== null && !Array.isArray(value),
    { message: "must be an object", params: { code: "wrong_type" } },
  )
  .check(checkJsonValue)
  .meta({
    type: "object",
    additionalProperties: true,
    description: "What the workflow does: `inputs`, `steps`, `output`, `schedule`.",
    example: { steps: [{ id: "hello", type: "set", values: { greeting: "Good morning" } }] },
  });

/** The OpenAPI generator can't see into a custom type, so the type is repeated here. */
const WorkflowDefinitionOrNull = WorkflowDefinition.nullable().meta({ type: ["object", "null"] });

/** Some clients warn of a choice of types, and models write objects. */
const SHORT_DEFINITION = {
  type: "object",
  additionalProperties: true,
  description: "An object, or YAML or JSON text. The language: describe_environment, topic definition.",
};

/** A definition in a request: an object, or text that the checker parses. */
export const DefinitionInput = z
  .custom<Record<string, unknown> | string>(
    (value) =>
      typeof value === "string" || (typeof value === "object" && value !== null && !Array.isArray(value)),
    { message: "must be an object, or YAML or JSON text", params: { code: "wrong_type" } },
  )
  .check(checkJsonValue)
  .meta({
    type: ["object", "string"],
    additionalProperties: true,
    description: "An object, or YAML or JSON text. The language: describe_environment, topic definition.",
    example: { steps: [{ id: "hello", type: "set", values: { greeting: "Good morning" } }] },
  })
  .register(shortSchemas, SHORT_DEFINITION);

export const DefinitionInputOrNull = DefinitionInput.nullable()
  .meta({ type: ["object", "string", "null"] })
  .register(shortSchemas, {
    ...SHORT_DEFINITION,
    examples: [{ steps: [{ id: "hello", type: "set", values: { greeting: "Good morning" } }] }],
  });

export const ApplyFixes = z.boolean().default(false).meta({
  description: "Apply the patches of issues.",
  example: true,
});

export const AppliedFixes = z.array(AppliedFix).optional().meta({
  description: "With apply_fixes: what was changed. The remaining issues have paths in the fixed definition.",
});

export const Reason = visible("lines", 1_000).meta({
  description: "Why it is changed; kept in the workflow's history.",
  example: "The board asked for net figures.",
});

/** Names the published workflows that a change may break; `*` stands for those in projects that the caller can't see. */
export const BreakCallers = z
  .array(z.string())
  .max(10_000)
  .default([])
  .meta({ description: "Callers that it may break." });

/** Maximum of an integer column on every database. */
export const MAX_VERSION = 2_147_483_647;

export const Version = z.int().min(1).max(MAX_VERSION).meta({
  description: "Version number, from 1. Every accepted change makes the next.",
  // Every workflow has it, so that the example works.
  example: 1,
});

/** 0 stands for an If-Match header that names no version; it never matches. */
export const IfMatch = z.int().min(0).max(MAX_VERSION).meta({
  description: "Change it only if this is still its current version.",
  example: 3,
});

export const IdempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,200}$/, {
    error: "must have 1 to 200 visible ASCII characters, and no spaces; for example a UUID",
  })
  .meta({
    description: "Your own value: a request repeated with it within 24 hours is executed once.",
    example: "3f1c9a52-create-weekly-revenue",
  })
  .register(shortSchemas, {
    type: "string",
    description: "Your own value: a call repeated with it is executed once.",
  });

export const Workflow = z
  .strictObject({
    id: z.string().meta({ description: "Unique, never reused.", example: "weekly-revenue" }),
    name: z.string().meta({ example: "Weekly revenue" }),
    description: z.string().meta({ example: "Revenue by region for the last seven days." }),
    tags: z.array(z.string()).meta({ example: ["finance"] }),
    status: WorkflowStatus,
    definition: WorkflowDefinitionOrNull.optional().meta({
      description: "What the workflow does; null while it has none. In lists only with `include`.",
    }),
    version: Version,
    published_version: Version.nullable().meta({
      description: "The published version; null for none.",
    }),
    created_at: timestamp,
    updated_at: timestamp,
    created_by: z.string().meta({ description: "Who created it: the key's owner.", example: "operator" }),
    project: ProjectField,
    used_by: z
      .array(z.string())
      .optional()
      .meta({ description: "Ids of the workflows that run it.", example: ["monthly-report"] }),
    last_run: LastRun.nullable()
      .optional()
      .meta({ description: "Its newest run, only with `include`; null when it never ran." }),
    last_review: LastReview.nullable()
      .optional()
      .meta({ description: "Its newest change request, only with `include`; null for none." }),
  })
  .meta({ id: "Workflow", description: "A workflow." });
export type Workflow = z.infer<typeof Workflow>;

/** A workflow after a change, with the issues of its definition. */
export const SavedWorkflow = Workflow.extend({
  next: z.string().optional().meta({
    description: "What to do next, when another version is published.",
    example: "Version 3 is a draft; version 2 stays live until publish_workflow.",
  }),
  issues: z.array(Issue).optional().meta({
    description:
      "When a definition was saved: what must be fixed before it can run; empty for nothing. Paths are relative to the definition.",
    example: [],
  }),
  warnings: z.array(Issue).optional().meta({
    description: "What may fail, but does not prevent running. Left out when empty.",
    example: [],
  }),
  applied_fixes: AppliedFixes,
  changed: z
    .array(z.string())
    .optional()
    .meta({
      description:
        "With patch: the parts of the definition that differ from before, at most 50. `steps` stands for the order of the steps.",
      example: ["steps.send", "output"],
    }),
  guesses: z
    .array(
      z.strictObject({
        path: z.string().meta({ description: "Its place in the definition.", example: "steps[1].params.id" }),
        message: z.string().meta({
          example: "reads steps.customers.rows[0].id, because the value was the same: 4711.",
        }),
      }),
    )
    .optional()
    .meta({ description: "With from: what the runs did not say for certain. Check it." }),
}).meta({ id: "SavedWorkflow", description: "A saved workflow." });

/** A workflow after an operation that lets live what was published, unless a review is needed for it. */
export const ReturnedWorkflow = Workflow.extend({
  unpublished: z.strictObject({ version: Version, detail: z.string() }).optional().meta({
    description:
      "In a project with review: the version that is no longer published, because nobody else has reviewed it, and what to do.",
  }),
}).meta({ id: "ReturnedWorkflow", description: "A workflow that was moved or restored." });

/** A workflow with its definition, as every operation but a list returns it. */
export type WorkflowWithDefinition = Workflow & { definition: Record<string, unknown> | null };

export const VersionChange = z.enum(["created", "updated", "archived", "restored"]).meta({
  description: "What made this version.",
  example: "updated",
});
export type VersionChange = z.infer<typeof VersionChange>;

export const WorkflowVersion = z
  .strictObject({
    workflow_id: z.string().meta({ example: "weekly-revenue" }),
    version: Version,
    change: VersionChange,
    name: z.string().meta({ example: "Weekly revenue" }),
    description: z.string().meta({ example: "Revenue by region for the last seven days." }),
    tags: z.array(z.string()).meta({ example: ["finance"] }),
    definition: WorkflowDefinitionOrNull.optional().meta({
      description: "The definition in this version. In lists only with `include`.",
    }),
    pruned_at: timestamp.optional().meta({
      description: "When the operator deleted the definition of this old version.",
    }),
    reason: z
      .string()
      .nullable()
      .meta({ description: "The reason that the client gave.", example: "Net figures" }),
    created_at: timestamp,
    created_by: z
      .string()
      .meta({ description: "Who made the change: the key's owner.", example: "operator" }),
    key_name: z.string().meta({ description: "The API key's name.", example: "ci" }),
    surface: Surface,
    client: z.string().meta({ description: "The program, as it identified itself.", example: "curl/8.14.1" }),
    backtest: PassedBacktest.optional(),
  })
  .meta({ id: "WorkflowVersion", description: "One immutable entry of a workflow's history." });
export type WorkflowVersion = z.infer<typeof WorkflowVersion>;

/** The text of a definition as its author wrote it. */
const DefinitionText = z.string().nullable().optional().meta({
  description:
    "The definition as YAML text, as it was written, with its comments; null where it is generated.",
  example: null,
});

/** One version, with the text of its definition. */
export const WrittenVersion = WorkflowVersion.extend({ definition_text: DefinitionText }).meta({
  id: "WrittenVersion",
  description: "One immutable entry of a workflow's history, with the text of its definition.",
});
export type WrittenVersion = z.infer<typeof WrittenVersion>;

/** A workflow as get_workflow returns it, with what a caller asks for. */
export const DetailedWorkflow = Workflow.extend({
  steps: z.array(z.record(z.string(), z.unknown())).optional().meta({
    description: "With `steps`: these steps of the definition, which is left out.",
  }),
  definition_text: DefinitionText,
  published_definition: WorkflowDefinition.optional().meta({
    description: "The definition that is live, when `definition` is a newer draft.",
  }),
  requested_version: WorkflowVersion.optional().meta({
    description: "With `version`: that version, with its definition.",
  }),
  versions: z.array(WorkflowVersion).optional().meta({
    description: "Only with `include`: the newest 20 versions with their reasons, without definitions.",
  }),
  schedule: ScheduleState.nullable().optional().meta({
    description: "Only with `include`: the next times of the published schedule; null for none.",
  }),
}).meta({ id: "DetailedWorkflow", description: "A workflow with its definition." });
