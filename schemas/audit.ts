/** The audit log: accepted changes, with who made each and through what. */
import { z } from "zod";
import { Surface } from "./actor.ts";
import { timestamp } from "./text.ts";

export const AuditEntry = z
  .strictObject({
    id: z.int().meta({ description: "Grows with time.", example: 4711 }),
    at: timestamp,
    operation: z.string().meta({
      description: "The operation; its outcome follows a dot, as in `update_user.role_admin`.",
      example: "publish_workflow",
    }),
    target: z
      .string()
      .nullable()
      .meta({ description: "The id of what was changed.", example: "weekly-revenue" }),
    owner: z.string().meta({
      description: "Who made the change: an e-mail address, or `operator` for the command line.",
      example: "ann@example.com",
    }),
    key_name: z.string().nullable().meta({
      description: "The name of the API key; `browser` for a signed-in user.",
      example: "ci",
    }),
    surface: Surface,
    client: z.string().meta({ description: "The program, as it identified itself.", example: "curl/8.14.1" }),
    request_id: z.string().nullable().meta({
      description: "The request's id in the log; null for the command line.",
      example: "req_8dkq2m0sfj3a",
    }),
  })
  .meta({ id: "AuditEntry", description: "An accepted change." });
export type AuditEntry = z.infer<typeof AuditEntry>;
