/** An entry in words, and a link to what it was done to. */
import { Anchor, Code } from "@mantine/core";
import { Link } from "react-router";
import type { AuditEntry } from "../../../schemas/audit.ts";

/** `publish_workflow` as people say it: "Publish workflow". */
export function operationLabel(operation: string): string {
  const words = operation.replaceAll(/[_.]/g, " ");
  return words.slice(0, 1).toUpperCase() + words.slice(1).replaceAll(/\bapi\b/gi, "API");
}

const PLACES = [
  [/^run_/, (id: string) => `/runs/${id}`],
  [/^apr_/, (id: string) => `/approvals/${id}`],
  [/^key_/, () => "/keys?everyone=true"],
  [/@/, (email: string) => `/people?search=${encodeURIComponent(email)}`],
] as const;

export function Target({ entry: { target, operation } }: { entry: AuditEntry }) {
  if (target === null) return null;
  const place = PLACES.find(([pattern]) => pattern.test(target))?.[1];
  const to =
    place?.(target) ??
    (/workflow|schedule|samples/.test(operation) ? `/workflows/${encodeURIComponent(target)}` : undefined);
  return to === undefined ? (
    <Code>{target}</Code>
  ) : (
    <Anchor component={Link} to={to} size="sm" style={{ overflowWrap: "anywhere" }}>
      {target}
    </Anchor>
  );
}
