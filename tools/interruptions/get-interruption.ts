import { z } from "zod";
import { Interruption, InterruptionId } from "../../schemas/interruption.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findInterruption, toInterruption } from "./serialize-interruption.ts";

export const getInterruption = defineTool({
  name: "get_interruption",
  title: "Get an interruption",
  description:
    "Returns an attempt with effects that ended without an answer: what its receiver may know it by, and how it was settled.",
  route: "GET /interruptions/:interruption_id",
  surfaces: ["rest"],
  scope: "read",
  effect: "read",
  errors: ["interruption_not_found"],
  input: z.strictObject({ interruption_id: InterruptionId }),
  output: Interruption,
  run: async ({ interruption_id: id }, ctx) => toInterruption(ctx.read, await findInterruption(ctx.read, id)),
});
