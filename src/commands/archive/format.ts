/**
 * The file of `export` and `import`: JSON Lines (https://jsonlines.org), an object a line, of the kind that it says.
 * First the head, then people, then each workflow with its versions behind it, then what is told but not taken over,
 * then the end, which says how many lines went before it: a file that was cut off is known by that.
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

/** Grows when an older release could misread the file. */
export const FORMAT_VERSION = 1;

/** As the store compares moments: as text. */
const Moment = z.iso.datetime({ precision: 3 });
const WorkflowId = z.string().regex(/^[a-z0-9][a-z0-9-]{0,199}$/);
const Who = text(254, 1);

const HeadLine = z.strictObject({
  kind: z.literal("millrace_export"),
  format: z.int().min(1),
  /** Which wrote it; for people. */
  release: z.string(),
});

export const UserLine = z.strictObject({
  kind: z.literal("user"),
  id: z.string().regex(/^usr_[\w-]{1,40}$/),
  email: Email,
  role: Role,
  status: UserStatus,
  created_at: Moment,
  created_by: Who,
});
export type UserLine = z.output<typeof UserLine>;

export const WorkflowLine = z.strictObject({
  kind: z.literal("workflow"),
  id: WorkflowId,
  status: WorkflowStatus,
  /** Its newest; so many versions follow. */
  version: Version,
  published_version: Version.nullable(),
  created_at: Moment,
  updated_at: Moment,
  created_by: Who,
  /** What the schedule of the published version has beside its definition; null where that has none. */
  schedule: z
    .strictObject({
      paused: z.boolean(),
      last_at: Moment.nullable(),
      owner: Who,
      key_name: text(200),
      lineage: text(200, 1),
    })
    .nullable(),
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
  reason: Reason.nullable(),
  created_at: Moment,
  created_by: Who,
  key_name: text(200),
  surface: Surface,
  client: text(1_000),
});
export type VersionLine = z.output<typeof VersionLine>;

/** Without its digest it can be used nowhere: it says which keys are to be made anew. */
export const KeyLine = z.strictObject({
  kind: z.literal("api_key"),
  name: ApiKeyName,
  owner: Who,
  scopes: z.array(Scope),
  created_at: Moment,
  expires_at: Moment.nullable(),
});
export type KeyLine = z.output<typeof KeyLine>;

/** Records of what happened in one instance; in another they would be none. */
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

/** By kind: what a line must be. */
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
