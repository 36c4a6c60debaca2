/** A workflow, and one version of its history. */
import { z } from "zod";
import { Surface } from "./actor.ts";
import { Issue } from "./problem.ts";
import { LastRun } from "./run.ts";
import { containsInfinity, exceedsDepth, MAX_JSON_DEPTH, text, timestamp } from "./text.ts";

export const WorkflowStatus = z.enum(["draft", "published", "archived"]).meta({
  description: "`draft` until it is published; `archived` when it was put away (which can be undone).",
  example: "draft",
});
export type WorkflowStatus = z.infer<typeof WorkflowStatus>;

export const WorkflowName = text(200, 1).meta({
  description: "What people call it. Names need not be unique; the id is.",
  example: "Weekly revenue",
});

export const WorkflowDescription = text(10_000).meta({
  description: "What it is for, in a sentence or two: agents and people choose workflows by it.",
  example: "Revenue by region for the last seven days, in two sentences.",
});

export const WorkflowTags = z
  .array(text(50, 1))
  .max(20)
  .refine((tags) => new Set(tags).size === tags.length, {
    message: "must not hold the same tag twice",
    params: { code: "duplicate" },
  })
  .meta({ description: "Words to filter lists by.", example: ["finance", "weekly"], uniqueItems: true });

/** The id as a client gives it: any text, so that a wrong one is "not found" with a near match, not "malformed". */
export const WorkflowIdRef = text(200, 1).meta({
  description: "The workflow's id, as `list_workflows` shows it: a short slug of its first name.",
  example: "weekly-revenue",
});

/** What the workflow does. An open object here: the language has a schema and a checker of its own. */
export const WorkflowDefinition = z
  .custom<Record<string, unknown>>(
    (value) => typeof value === "object" && value !== null && !Array.isArray(value),
    { message: "must be an object", params: { code: "wrong_type" } },
  )
  .refine((value) => !exceedsDepth(value, MAX_JSON_DEPTH), {
    message: `must not be nested deeper than ${MAX_JSON_DEPTH} levels`,
    params: { code: "too_deep" },
  })
  .refine((value) => !containsInfinity(value), {
    message: "must not hold a number too large for JSON's readers (beyond about 1.8e308)",
    params: { code: "not_finite" },
  })
  .meta({
    type: "object",
    additionalProperties: true,
    description: "What the workflow does: `inputs`, `steps`, `output`, `schedule`.",
    example: { steps: [{ id: "hello", type: "set", values: { greeting: "Good morning" } }] },
  });

/** The same, or null while there is none. The OpenAPI generator knows a custom type only by what is said here. */
const WorkflowDefinitionOrNull = WorkflowDefinition.nullable().meta({ type: ["object", "null"] });

/** The same as a client hands it in: an object, or text as people write it. Text is read by the checker. */
export const DefinitionInput = z
  .custom<Record<string, unknown> | string>(
    (value) =>
      typeof value === "string" || (typeof value === "object" && value !== null && !Array.isArray(value)),
    { message: "must be an object, or YAML or JSON text", params: { code: "wrong_type" } },
  )
  .refine((value) => !exceedsDepth(value, MAX_JSON_DEPTH), {
    message: `must not be nested deeper than ${MAX_JSON_DEPTH} levels`,
    params: { code: "too_deep" },
  })
  .refine((value) => !containsInfinity(value), {
    message: "must not hold a number too large for JSON's readers (beyond about 1.8e308)",
    params: { code: "not_finite" },
  })
  .meta({
    type: ["object", "string"],
    additionalProperties: true,
    description:
      "What it does: an object, or YAML or JSON text. The language: describe_environment with topic definition.",
    example: { steps: [{ id: "hello", type: "set", values: { greeting: "Good morning" } }] },
  });

export const DefinitionInputOrNull = DefinitionInput.nullable().meta({ type: ["object", "string", "null"] });

export const Reason = text(1_000).meta({
  description: "Why this is changed. It stays in the workflow's history.",
  example: "The board asked for net figures.",
});

/** What an integer column holds on every database. */
export const MAX_VERSION = 2_147_483_647;

export const Version = z.int().min(1).max(MAX_VERSION).meta({
  description: "The number of a version, from 1; every accepted change makes the next.",
  example: 3,
});

/** REST's If-Match may name what is no version at all: that is 0, and never matches. */
export const IfMatch = z.int().min(0).max(MAX_VERSION).meta({
  description: "Change it only if this is still its version.",
  example: 3,
});

export const IdempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,200}$/)
  .meta({
    description:
      "A value of your own, 1 to 200 visible ASCII characters: sent again with it within 24 hours, the request is not carried out twice.",
    example: "3f1c9a52-create-weekly-revenue",
  });

export const Workflow = z
  .strictObject({
    id: z.string().meta({ description: "Unique, never reused.", example: "weekly-revenue" }),
    name: z.string().meta({ example: "Weekly revenue" }),
    description: z.string().meta({ example: "Revenue by region for the last seven days." }),
    tags: z.array(z.string()).meta({ example: ["finance"] }),
    status: WorkflowStatus,
    definition: WorkflowDefinitionOrNull.optional().meta({
      description:
        "What it does; null while it has only a name and a description. Left out of lists unless asked for.",
    }),
    version: Version,
    published_version: Version.nullable().meta({
      description: "The version that is live; null when none is.",
    }),
    created_at: timestamp,
    updated_at: timestamp,
    created_by: z
      .string()
      .meta({ description: "The owner of the key that created it.", example: "operator" }),
    last_run: LastRun.nullable()
      .optional()
      .meta({ description: "Its newest run, where it was asked for; null when it never ran." }),
  })
  .meta({ id: "Workflow", description: "A workflow." });
export type Workflow = z.infer<typeof Workflow>;

/** A workflow as it was saved, with what still keeps its definition from running. */
export const SavedWorkflow = Workflow.extend({
  issues: z.array(Issue).optional().meta({
    description:
      "Where a definition was saved: what must be mended before it can run; empty when nothing. Paths are below the definition.",
    example: [],
  }),
}).meta({ id: "SavedWorkflow", description: "A workflow as it was saved." });

/** A workflow with its definition, as everything but a list gives it. */
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
      description: "What it did in this version. Left out of lists unless asked for.",
    }),
    reason: z
      .string()
      .nullable()
      .meta({ description: "Why, as the client said it.", example: "Net figures" }),
    created_at: timestamp,
    created_by: z.string().meta({ description: "Who: the key's owner.", example: "operator" }),
    key_name: z.string().meta({ description: "Through which key.", example: "ci" }),
    surface: Surface,
    client: z.string().meta({ description: "The program, as it named itself.", example: "curl/8.14.1" }),
  })
  .meta({ id: "WorkflowVersion", description: "One immutable entry of a workflow's history." });
export type WorkflowVersion = z.infer<typeof WorkflowVersion>;
