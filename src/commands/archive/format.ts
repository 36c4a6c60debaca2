/**
 * The file format of `export` and `import`: JSON Lines (https://jsonlines.org), one object per line, with its `kind`.
 * The order is: head, projects, users, each workflow followed by its versions, subscriptions, records that are not imported, end.
 * The end line holds the number of lines before it, so that a truncated file is detected.
 */
import { z } from "zod";
import { Scope, Surface } from "../../../schemas/actor.ts";
import { ApiKeyName } from "../../../schemas/api-key.ts";
import { BacktestRule } from "../../../schemas/backtest-rule.ts";
import { PER_KEY_LIMITS } from "../../../schemas/config.ts";
import {
  GrantKind,
  HttpPublic,
  ProjectConnections,
  ProjectDescription,
  ProjectId,
  ProjectName,
} from "../../../schemas/project.ts";
import {
  IncludeValues,
  SubscribedEvents,
  SubscribedTags,
  SubscribedWorkflows,
  SubscriptionFormat,
  SubscriptionName,
  SubscriptionUrl,
  UrlSecret,
} from "../../../schemas/subscription.ts";
import { text } from "../../../schemas/text.ts";
import { Email, Role, UserRole, UserStatus } from "../../../schemas/user.ts";
import {
  Reason,
  WORKFLOW_ID,
  Version,
  VersionChange,
  WorkflowDefinition,
  WorkflowDescription,
  WorkflowName,
  WorkflowStatus,
  StoredTags,
} from "../../../schemas/workflow.ts";

/** Increases when an older release could misread the file. */
export const FORMAT_VERSION = 1;

/** With exactly three digits, because the store compares times as text. */
const Timestamp = z.iso.datetime({ precision: 3 });
const WorkflowId = z.string().regex(WORKFLOW_ID, { error: "must be the id of a workflow" });
const Owner = text(254, 1);

const HeadLine = z.strictObject({
  kind: z.literal("millrace_export"),
  format: z.int().min(1),
  /** The release that wrote the file, for people. */
  release: z.string(),
});

export const UserLine = z.strictObject({
  kind: z.literal("user"),
  id: z.string().regex(/^usr_[\w-]{1,40}$/, { error: "must be the id of a user" }),
  email: Email,
  role: UserRole,
  status: UserStatus,
  created_at: Timestamp,
  created_by: Owner,
  /** When the person is away; left out without an absence. */
  absence: z
    .strictObject({ from: Timestamp, until: Timestamp, substitute: Email, set_at: Timestamp })
    .optional(),
});
export type UserLine = z.output<typeof UserLine>;

export const ProjectLine = z.strictObject({
  kind: z.literal("project"),
  id: ProjectId,
  name: ProjectName,
  description: ProjectDescription,
  connections: ProjectConnections,
  http_public: HttpPublic.nullable(),
  review: z.boolean(),
  // Files of older releases have none.
  backtest: BacktestRule.nullable().default(null),
  limits: z.partialRecord(z.enum(PER_KEY_LIMITS), z.int().min(1)),
  created_at: Timestamp,
  created_by: Owner,
  members: z.array(z.strictObject({ email: Email, role: Role, added_at: Timestamp, added_by: Owner })),
  grants: z.array(
    z.strictObject({
      kind: GrantKind,
      name: text(1_000, 1),
      options: z.record(z.string(), z.unknown()).nullable(),
      granted_at: Timestamp,
      granted_by: Owner,
    }),
  ),
});
export type ProjectLine = z.output<typeof ProjectLine>;

export const WorkflowLine = z.strictObject({
  kind: z.literal("workflow"),
  id: WorkflowId,
  /** Left out for the default project. */
  project: ProjectId.optional(),
  /** The projects that it is offered to; left out for none. */
  offers: z.array(z.string()).optional(),
  status: WorkflowStatus,
  /** The newest version; as many version lines follow. */
  version: Version,
  published_version: Version.nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
  created_by: Owner,
  /** Whom the runs of its triggers belong to; left out if the published version has none. */
  triggers: z.strictObject({ owner: Owner, key_name: text(200), lineage: text(200, 1) }).optional(),
  /** The state of the schedule, which is not in the definition; null if the published version has no schedule. */
  schedule: z
    .strictObject({
      paused: z.boolean(),
      last_at: Timestamp.nullable(),
      owner: Owner,
      key_name: text(200),
      lineage: text(200, 1),
    })
    .nullable(),
  /** The values that runs leave for later ones; left out if none were written. */
  state: z.record(z.string(), z.unknown()).optional(),
});
export type WorkflowLine = z.output<typeof WorkflowLine>;

export const VersionLine = z.strictObject({
  kind: z.literal("version"),
  workflow_id: WorkflowId,
  version: Version,
  change: VersionChange,
  name: WorkflowName,
  description: WorkflowDescription,
  tags: StoredTags,
  definition: WorkflowDefinition.nullable(),
  /** YAML that says the definition, with comments; left out without one. */
  definition_text: z.string().optional(),
  /** Left out unless the operator pruned the definition. */
  pruned_at: Timestamp.optional(),
  reason: Reason.nullable(),
  created_at: Timestamp,
  created_by: Owner,
  key_name: text(200),
  surface: Surface,
  client: text(1_000),
});
export type VersionLine = z.output<typeof VersionLine>;

/** A subscription without its signing secret, which an import replaces. */
export const SubscriptionLine = z.strictObject({
  kind: z.literal("subscription"),
  id: z.string().regex(/^sub_[\w-]{1,40}$/, { error: "must be the id of a subscription" }),
  /** Left out for the default project. */
  project: ProjectId.optional(),
  name: SubscriptionName,
  format: SubscriptionFormat,
  url: SubscriptionUrl.nullable(),
  url_secret: UrlSecret.nullable(),
  events: SubscribedEvents,
  workflows: SubscribedWorkflows,
  tags: SubscribedTags,
  include_values: IncludeValues,
  paused_at: Timestamp.nullable(),
  pause_reason: text(1_000, 1).nullable(),
  created_at: Timestamp,
  created_by: Owner,
  subject: Owner,
});
export type SubscriptionLine = z.output<typeof SubscriptionLine>;

/** A key without its digest, which cannot be used: it lists the keys that must be created again. */
export const KeyLine = z.strictObject({
  kind: z.literal("api_key"),
  name: ApiKeyName,
  owner: Owner,
  scopes: z.array(Scope),
  created_at: Timestamp,
  expires_at: Timestamp.nullable(),
});
export type KeyLine = z.output<typeof KeyLine>;

/** Records of what happened in the exporting instance; they are never imported. */
const RECORDS = ["run", "run_step", "audit_entry"] as const;
export type RecordLine = { kind: (typeof RECORDS)[number] } & Record<string, unknown>;
export const RecordLine = z.looseObject({ kind: z.enum(RECORDS) });

const EndLine = z.strictObject({ kind: z.literal("end"), lines: z.int().min(1) });

export type Line =
  | z.output<typeof HeadLine>
  | ProjectLine
  | UserLine
  | WorkflowLine
  | VersionLine
  | SubscriptionLine
  | KeyLine
  | RecordLine
  | z.output<typeof EndLine>;

/** The schema of each kind of line. */
export const LINE_SCHEMAS = {
  millrace_export: HeadLine,
  project: ProjectLine,
  user: UserLine,
  workflow: WorkflowLine,
  version: VersionLine,
  subscription: SubscriptionLine,
  api_key: KeyLine,
  run: RecordLine,
  run_step: RecordLine,
  audit_entry: RecordLine,
  end: EndLine,
} as const satisfies Record<Line["kind"], z.ZodType>;
