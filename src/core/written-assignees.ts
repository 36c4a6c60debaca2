/** The assignees that a definition names itself, and not through an expression. */
import { EXPRESSION_PATTERN } from "../../schemas/field-values.ts";
import { canonicalAddress } from "../../schemas/mail-address.ts";
import type { RunRecord } from "./model.ts";

type Path = PropertyKey[];

/** An assignee as the definition has it. */
export interface WrittenAssignee {
  path: Path;
  assignee: string;
}

/** An `approval` step, of whose fields `assignees` and `escalate` name people. */
type Step = Readonly<Record<string, unknown>>;

/** The texts that name who can decide at once and after an escalation, with their paths. Those with an expression are `computed`. */
export function writtenAssignees({ assignees, escalate }: Step): {
  literal: WrittenAssignee[];
  computed: WrittenAssignee[];
} {
  const escalations = Array.isArray(escalate)
    ? (escalate as unknown[]).map((one, index): [Path, unknown] => [["escalate", index], one])
    : [[["escalate"], escalate] as [Path, unknown]];
  const all = [
    ...textsIn(assignees, ["assignees"]),
    ...escalations.flatMap(([path, one]) =>
      textsIn((one as { to?: unknown } | undefined)?.to, [...path, "to"]),
    ),
  ];
  const isComputed = ({ assignee }: WrittenAssignee): boolean => EXPRESSION_PATTERN.test(assignee);
  return { literal: all.filter((one) => !isComputed(one)), computed: all.filter(isComputed) };
}

function textsIn(value: unknown, path: Path): WrittenAssignee[] {
  if (Array.isArray(value)) return value.flatMap((one, index) => textsIn(one, [...path, index]));
  return typeof value === "string" ? [{ path, assignee: value }] : [];
}

/**
 * Whether the link in a mail decides for an address without an account. Only a version of a workflow can name such an address, because
 * others can review it: who starts a run would otherwise choose a mailbox of their own to decide.
 * @param step the `approval` step as the definition of the run has it
 */
export const isNamedStranger = (
  { definition }: Pick<RunRecord, "definition">,
  step: Step | undefined,
  email: string,
): boolean =>
  definition === null &&
  writtenAssignees(step ?? {}).literal.some(
    ({ assignee }) => canonicalAddress(assignee) === canonicalAddress(email),
  );
