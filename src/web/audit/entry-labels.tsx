/** The label of an audit entry, and a link to its target. */
import { Anchor, Code } from "@mantine/core";
import { Link } from "react-router";
import type { AuditEntry } from "../../../schemas/audit.ts";
import { WorkflowLink } from "../workflows/names.tsx";

/** Turns `invite_user.role_editor` into "Invite user: role editor". */
export function operationLabel(operation: string): string {
  const words = operation.replaceAll("_", " ").replaceAll(".", ": ");
  return words.slice(0, 1).toUpperCase() + words.slice(1).replaceAll(/\bapi\b/gi, "API");
}

/** Turns `{step_id: "send", attempt: 1}` into "step id: send · attempt: 1". */
export const detailsLabel = (details: NonNullable<AuditEntry["details"]>): string =>
  Object.entries(details)
    .map(([name, value]) => `${name.replaceAll("_", " ")}: ${textOf(value)}`)
    .join(" · ");

const textOf = (value: unknown): string =>
  typeof value === "string" ? value : Array.isArray(value) ? value.join(", ") : JSON.stringify(value);

const TARGET_PATHS = [
  [/^run_/, (id: string) => `/runs/${id}`],
  [/^apr_/, (id: string) => `/approvals/${id}`],
  [/^key_/, () => "/keys?everyone=true"],
  [/@/, (email: string) => `/people?search=${encodeURIComponent(email)}`],
] as const;

export function Target({ entry: { target, operation } }: { entry: AuditEntry }) {
  if (target === null) return null;
  const pathOf = TARGET_PATHS.find(([pattern]) => pattern.test(target))?.[1];
  if (pathOf === undefined && /workflow|schedule|samples/.test(operation))
    return <WorkflowLink id={target} size="sm" style={{ overflowWrap: "anywhere" }} />;
  const to = pathOf?.(target);
  return to === undefined ? (
    <Code>{target}</Code>
  ) : (
    <Anchor component={Link} to={to} size="sm" style={{ overflowWrap: "anywhere" }}>
      {target}
    </Anchor>
  );
}
