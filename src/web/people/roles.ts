import * as texts from "#texts/people";
import { Role, type UserRole } from "../../../schemas/user.ts";

/**
 * The choices of the roles that can be given. `member`, which is none in the default project, only makes sense beside another
 * project.
 */
export function rolesFor(several: boolean): { value: UserRole; label: string }[] {
  const roles: UserRole[] = several ? ["member", ...Role.options] : [...Role.options];
  return roles.map((role) => ({ value: role, label: texts.roleName({ role }) }));
}
