import { z } from "zod";
import { Absence } from "../../schemas/absence.ts";
import { defineTool } from "../../src/core/tool.ts";
import { serializeAbsence } from "./serialize-absence.ts";

export const getAbsence = defineTool({
  name: "get_absence",
  title: "Get your absence",
  description: "Returns when you are away, who decides approvals in your place, and for whom you decide.",
  route: "GET /absence",
  surfaces: ["rest"],
  scope: "read",
  requiresUser: true,
  effect: "read",
  errors: [],
  input: z.strictObject({}),
  output: Absence,
  run: (_input, ctx) => serializeAbsence(ctx.read.users, ctx.actor.principal.owner, ctx.now()),
});
