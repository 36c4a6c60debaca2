/** What was done, by whom, through what. */
import { z } from "zod";
import { Surface } from "./actor.ts";
import { timestamp } from "./text.ts";

export const AuditEntry = z
  .strictObject({
    id: z.int().meta({ description: "Later entries have higher ones.", example: 4711 }),
    at: timestamp,
    operation: z.string().meta({
      description: "What was done; what it came to stands behind a dot, as in `update_user.role_admin`.",
      example: "publish_workflow",
    }),
    target: z
      .string()
      .nullable()
      .meta({ description: "The id of what it was done to.", example: "weekly-revenue" }),
    owner: z.string().meta({
      description: "Who did it: an e-mail address, or operator for the command line.",
      example: "ann@example.com",
    }),
    key_name: z.string().nullable().meta({
      description: "The name of the key that it was done with; browser for somebody signed in.",
      example: "ci",
    }),
    surface: Surface,
    client: z.string().meta({ description: "The program, as it named itself.", example: "curl/8.14.1" }),
    request_id: z.string().nullable().meta({
      description: "Under which the request was logged; null for the command line.",
      example: "req_8dkq2m0sfj3a",
    }),
  })
  .meta({ id: "AuditEntry", description: "An accepted change." });
export type AuditEntry = z.infer<typeof AuditEntry>;
