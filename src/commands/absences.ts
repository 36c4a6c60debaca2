/** `millrace users absent` and `millrace users back`: absences of people, set by the operator. */
import type { Absence } from "../../schemas/absence.ts";
import { endAbsence } from "../../tools/absences/end-absence.ts";
import { setAbsence } from "../../tools/absences/set-absence.ts";
import type { Io } from "./io.ts";
import { withOperator } from "./operator.ts";

/** Sets when somebody is away, in place of what was set before. */
export async function setUserAbsence(
  io: Io,
  person: string,
  input: { from?: string; until: string; substitute: string },
): Promise<void> {
  const { from, until, substitute } = await withOperator(
    io,
    { requiresStateFor: "set an absence in" },
    ({ call }) => call<Absence>(setAbsence, { person, ...input }),
  );
  io.out(
    `${person} is away from ${from} until ${until}. ${substitute} can decide approvals in their place.\n`,
  );
}

/** Ends an absence. */
export async function endUserAbsence(io: Io, person: string): Promise<void> {
  await withOperator(io, { requiresStateFor: "end an absence in" }, ({ call }) =>
    call<Absence>(endAbsence, { person }),
  );
  io.out(`${person} is not away. Nobody decides approvals in their place.\n`);
}
