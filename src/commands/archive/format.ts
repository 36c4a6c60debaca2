/**
 * The file format of `export` and `import`: JSON Lines (https://jsonlines.org), one object per line, with its `kind`.
 * The order is: head, users, each workflow followed by its versions, records that are not imported, end. The end line holds
 * the number of lines before it, so that a truncated file is detected.
 */
import { z } from "zod";
import { Scope, Surface } from "../../../schemas/actor.ts";
import { ApiKeyName } from "../../../schemas/api-key.ts";
import { text } from "../../../schemas/text.ts";
import { Email, Role, UserStatus } from "../../../schemas/user.ts";
import {
  Reason,
  Version,
  VersionChange,
  WorkflowDefinition,
  WorkflowDescription,
  WorkflowName,
  WorkflowStatus,
  WorkflowTags,
} from "../../../schemas/workflow.ts";

/** Increases when an older release could misread the file. */
export const FORMAT_VERSION = 1;

/** With exactly three digits, because the store compares times as text. */
const Timestamp = z.iso.datetime({ precision: 3 });
const WorkflowId = z.string().regex(/^[a-z0-9][a-z0-9-]{0,199}$/);
const Owner = text(254, 1);

const HeadLine = z.strictObject({
  kind: z.literal("millrace_export"),
  format: z.int().min(1),
  /** The release that wrote the file, for people. */
  release: z.string(),
});

export const UserLine = z.strictObject({
  kind: z.literal("user"),
  id: z.string().regex(/^usr_[\w-]{1,40}$/),
  email: Email,
  role: Role,
  status: UserStatus,
  created_at: Timestamp,
  created_by: Owner,
});
export type UserLine = z.output<typeof UserLine>;

export const WorkflowLine = z.strictObject({
  kind: z.literal("workflow"),
  id: WorkflowId,
  status: WorkflowStatus,
  /** The newest version; as many version lines follow. */
  version: Version,
  published_version: Version.nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
  created_by: Owner,
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
  tags: WorkflowTags,
  definition: WorkflowDefinition.nullable(),
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
  | UserLine
  | WorkflowLine
  | VersionLine
  | KeyLine
  | RecordLine
  | z.output<typeof EndLine>;

/** The schema of each kind of line. */
export const LINE_SCHEMAS = {
  millrace_export: HeadLine,
  user: UserLine,
  workflow: WorkflowLine,
  version: VersionLine,
  api_key: KeyLine,
  run: RecordLine,
  run_step: RecordLine,
  audit_entry: RecordLine,
  end: EndLine,
} as const satisfies Record<Line["kind"], z.ZodType>;
