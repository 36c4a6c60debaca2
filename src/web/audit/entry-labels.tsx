/** The label of an audit entry, and a link to its target. */
import { Anchor, Code } from "@mantine/core";
import { Link } from "react-router";
import type { AuditEntry } from "../../../schemas/audit.ts";
import { detailText } from "./changed-fields.ts";

/** Turns `invite_user.role_editor` into "Invite user: role editor". */
export function operationLabel(operation: string): string {
  const words = operation.replaceAll("_", " ").replaceAll(".", ": ");
  return words.slice(0, 1).toUpperCase() + words.slice(1).replaceAll(/\bapi\b/gi, "API");
}

/** Turns `{step_id: "send", attempt: 1}` into "step id: send · attempt: 1". */
export const detailsLabel = (details: NonNullable<AuditEntry["details"]>): string =>
  Object.entries(details)
    .map(([name, value]) => `${name.replaceAll("_", " ")}: ${detailText(value)}`)
    .join(" · ");

const TARGET_PATHS = [
  [/^run_/, (id: string) => `/runs/${id}`],
  [/^apr_/, (id: string) => `/approvals/${id}`],
  [/^key_/, () => "/keys?everyone=true"],
  [/@/, (email: string) => `/people?search=${encodeURIComponent(email)}`],
] as const;

export function Target({ entry: { target, operation } }: { entry: AuditEntry }) {
  if (target === null) return null;
  const pathOf = TARGET_PATHS.find(([pattern]) => pattern.test(target))?.[1];
  const to =
    pathOf?.(target) ??
    (/workflow|schedule|samples/.test(operation) ? `/workflows/${encodeURIComponent(target)}` : undefined);
  return to === undefined ? (
    <Code>{target}</Code>
  ) : (
    <Anchor component={Link} to={to} size="sm" style={{ overflowWrap: "anywhere" }}>
      {target}
    </Anchor>
  );
}
