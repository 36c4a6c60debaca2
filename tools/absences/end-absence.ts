import { z } from "zod";
import { Absence } from "../../schemas/absence.ts";
import { iso } from "../../src/core/clock.ts";
import { defineTool } from "../../src/core/tool.ts";
import { serializeAbsence } from "./serialize-absence.ts";

export const endAbsence = defineTool({
  name: "end_absence",
  title: "End your absence",
  description: "Removes your absence: from now on nobody decides approvals in your place.",
  route: "DELETE /absence",
  surfaces: ["rest"],
  scope: "read",
  requiresUser: true,
  effect: "delete",
  errors: [],
  input: z.strictObject({}),
  output: Absence,
  async run(_input, ctx) {
    const { owner } = ctx.actor.principal;
    return ctx.write(async (tx) => {
      const absence = await tx.users.absenceOf(owner, iso(ctx.now()));
      if (absence !== undefined) {
        await tx.users.setAbsence(owner, null);
        await tx.recordAudit(owner, undefined, { details: { substitute: absence.substitute } });
      }
      return serializeAbsence(tx.users, owner, ctx.now());
    });
  },
});
