import type { ApprovalPlan } from "../../schemas/approval.ts";

/** Maximum number of steps that the text lists; get_approval returns all of them. */
const MAX_STEPS = 40;

const ROLES = {
  run: "the rest of this run",
  parent: "the rest of a run that waits for it",
  called: "can be called",
} as const;

/** Writes what can still run after an approval as lines of text, for mails and questions. */
export function formatPlan(approvalId: string, workflows: ApprovalPlan["workflows"]): string {
  const lines: string[] = [];
  let left = MAX_STEPS;
  for (const { workflow_id: id, version, role, patched, on_failure: onFailure, steps } of workflows) {
    if (steps.length === 0 && onFailure === undefined && role !== "called") continue;
    const source = version === null ? "does not exist" : `version ${version}${patched ? ", changed" : ""}`;
    const failure = onFailure === undefined ? "" : `; if it fails, ${onFailure} runs`;
    lines.push(`${id} (${source}; ${ROLES[role]}${failure}):`);
    for (const { id: stepId, type, effect, if: condition, undo } of steps.slice(0, Math.max(left, 0)))
      lines.push(
        `- ${undo ? "to undo " : ""}${stepId} (${type}): ${effect}${condition === undefined ? "" : `, if ${condition}`}`,
      );
    left -= steps.length;
  }
  if (lines.length === 0) return "Nothing else runs after the decision.";
  const more = left < 0 ? [`… and ${-left} more steps: GET /approvals/${approvalId} lists all.`] : [];
  return ["After the decision these can run:", ...lines, ...more].join("\n");
}
