import { z } from "zod";
import { Absence } from "../../schemas/absence.ts";
import { iso } from "../../src/core/clock.ts";
import { defineTool } from "../../src/core/tool.ts";
import { AbsentPerson, absentPerson } from "./absent-person.ts";
import { serializeAbsence } from "./serialize-absence.ts";

export const endAbsence = defineTool({
  name: "end_absence",
  title: "End your absence",
  description:
    "Removes your absence, or as a signed-in admin that of another person: from now on nobody decides approvals in their place.",
  route: "DELETE /absence",
  surfaces: ["rest"],
  scope: "read",
  requiresUser: true,
  effect: "delete",
  errors: ["missing_scope"],
  input: z.strictObject({ person: AbsentPerson }),
  output: Absence,
  async run({ person }, ctx) {
    return ctx.write(async (tx) => {
      const owner = await absentPerson(tx, ctx.actor.principal, person);
      const absence = await tx.users.absenceOf(owner, iso(ctx.now()));
      if (absence !== undefined) {
        await tx.users.setAbsence(owner, null);
        await tx.recordAudit(owner, undefined, { details: { substitute: absence.substitute } });
      }
      return serializeAbsence(tx.users, owner, ctx.now());
    });
  },
});
