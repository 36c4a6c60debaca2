import type { Absence } from "../../schemas/absence.ts";
import { substitutedBy } from "../../src/core/approval-assignment.ts";
import type { UserReader } from "../../src/core/account-ports.ts";
import { iso } from "../../src/core/clock.ts";

/** The absence of a person as the API returns it. @param now in milliseconds since 1970 */
export async function serializeAbsence(
  users: Pick<UserReader, "absenceOf" | "absencesAt">,
  email: string,
  now: number,
): Promise<Absence> {
  const at = iso(now);
  const absence = await users.absenceOf(email, at);
  return {
    from: absence?.startsAt ?? null,
    until: absence?.endsAt ?? null,
    substitute: absence?.substitute ?? null,
    active: absence !== undefined && absence.startsAt <= at,
    stands_in_for: substitutedBy(email, await users.absencesAt(at)),
  };
}
