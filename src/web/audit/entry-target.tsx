/** A link to what an audit entry is about. */
import { Anchor, Code } from "@mantine/core";
import { Link } from "react-router";
import type { AuditEntry } from "../../../schemas/audit.ts";
import { WorkflowLink } from "../workflows/names.tsx";

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
