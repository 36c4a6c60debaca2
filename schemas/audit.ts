/** The audit log: accepted changes and, if the operator asks for it, reads of run values and uses of secrets. */
import { z } from "zod";
import { Surface } from "./actor.ts";
import { ProjectField } from "./project.ts";
import { timestamp } from "./text.ts";

export const AuditEntry = z
  .strictObject({
    id: z.union([z.int(), z.string()]).meta({
      description:
        "A number that grows with time; a text that shows nothing for callers who see only the entries of some projects.",
      example: 4711,
    }),
    at: timestamp,
    operation: z.string().meta({
      description: "The operation; its outcome follows a dot, as in `update_user.role_admin`.",
      example: "publish_workflow",
    }),
    target: z.string().nullable().meta({
      description: "The id of what was changed, or read; `secret:` and its name for `use_secret`.",
      example: "weekly-revenue",
    }),
    project: ProjectField,
    owner: z.string().meta({
      description: "Who made the change: an e-mail address, or `operator` for the command line.",
      example: "ann@example.com",
    }),
    key_name: z.string().nullable().meta({
      description: "The name of the API key; `browser` for a signed-in user.",
      example: "ci",
    }),
    lineage: z.string().nullable().meta({
      description:
        "The first of the keys that were rotated to this one, or the user; null in entries of older releases.",
      example: "key_5pXq0aZr4mXw",
    }),
    surface: Surface,
    client: z.string().meta({ description: "The program, as it identified itself.", example: "curl/8.14.1" }),
    request_id: z.string().nullable().meta({
      description: "The request's id in the log; null for the command line.",
      example: "req_8dkq2m0sfj3a",
    }),
    details: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({
        description: "What else is on record, such as the host and the run of `use_secret`.",
        example: { host: "hooks.example.com", run_id: "run_8dkq2m0sfj3a", step_id: "send", attempt: 1 },
      }),
    hash: z.string().nullable().meta({
      description:
        "The link of the hash chain (docs/security.md); null in entries of older releases, which know no chain, and for callers who see only the entries of some projects.",
      example: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    }),
  })
  .meta({ id: "AuditEntry", description: "An accepted change, a read of run values, or a use of a secret." });
export type AuditEntry = z.infer<typeof AuditEntry>;
