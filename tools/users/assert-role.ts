import { Role, type UserRole } from "../../schemas/user.ts";
import { invalidInput } from "../../src/core/issues.ts";
import type { ProjectReader } from "../../src/core/project-ports.ts";

/**
 * Refuses the role of a person who has roles in other projects only, while there are none.
 * @throws AppError invalid_input
 */
export async function assertRoleExists(
  projects: Pick<ProjectReader, "isSingle">,
  role: UserRole,
): Promise<void> {
  if (role !== "member" || !(await projects.isSingle())) return;
  throw invalidInput([
    {
      path: "role",
      code: "not_allowed",
      message:
        "can't be member, because there is no project but the default one: the person would see nothing",
      allowed: [...Role.options],
    },
  ]);
}
