import type { Grant } from "../../schemas/project.ts";
import type { Grant as GrantRecord } from "../../src/core/project-ports.ts";

/** A grant as the API returns it. */
export const serializeGrant = ({ kind, name, options, grantedAt, grantedBy }: GrantRecord): Grant => ({
  kind,
  name,
  ...options,
  granted_at: grantedAt,
  granted_by: grantedBy,
});

/** What an entry of the audit log says was granted. */
export const grantTarget = ({ kind, name }: Pick<GrantRecord, "kind" | "name">): string => `${kind}:${name}`;
