/** Whose absence a caller sets or ends: their own, or as a signed-in admin that of another person. */
import { OPERATOR } from "../../schemas/actor.ts";
import { Email } from "../../schemas/user.ts";
import { AppError } from "../../src/core/errors.ts";
import { invalidInput } from "../../src/core/issues.ts";
import type { Writers } from "../../src/core/ports.ts";
import type { Principal } from "../../src/core/principal.ts";

export const AbsentPerson = Email.optional().meta({
  description: "For an admin: the address of the person whose absence it is. Default: your own.",
  example: "ann@example.com",
});

/** @throws AppError missing_scope, invalid_input */
export async function absentPerson(
  tx: Pick<Writers, "users">,
  { owner, access }: Pick<Principal, "owner" | "access">,
  person: string | undefined,
): Promise<string> {
  if (person === undefined) {
    if (owner !== OPERATOR) return owner;
    throw issue("missing", "is missing: the operator has no account", "Send the address of a user.");
  }
  if (person === owner) return owner;
  if (access.everywhere?.has("admin") !== true)
    throw new AppError(
      "missing_scope",
      "Only an admin of Millrace can set or end the absence of another person.",
      {
        errors: [{ path: "person", code: "missing_scope", message: "is not you", allowed: [owner] }],
      },
    );
  if ((await tx.users.findByEmail(person)) === undefined)
    throw issue(
      "not_found",
      `is not the address of a user, got ${person}`,
      "list_users (GET /users) shows them.",
    );
  return person;
}

const issue = (code: "missing" | "not_found", message: string, fix: string): AppError =>
  invalidInput([{ path: "person", code, message, fix }]);
