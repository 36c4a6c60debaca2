import { Role, type UserRole } from "../../../schemas/user.ts";

/** The roles that can be given. `member`, which is none in the default project, only makes sense beside another project. */
export const rolesFor = (several: boolean): UserRole[] =>
  several ? ["member", ...Role.options] : [...Role.options];
