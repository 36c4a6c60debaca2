import type { Role } from "../../../schemas/user.ts";

export const ROLES: Role[] = ["viewer", "editor", "admin"];
