import { Role } from "../../../schemas/user.ts";

export const ROLES: Role[] = [...Role.options];
