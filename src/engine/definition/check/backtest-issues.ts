/** Warns of names in the rule of backtests that no difference can have. */
import { normalName } from "../../../../schemas/difference-names.ts";
import { OF_STEP } from "../../../core/definition-changes.ts";
import { nearMatch } from "../../../core/near-match.ts";
import type { LocatedIssue } from "./check-report.ts";

type Top = Readonly<Record<string, unknown>>;

/** What can differ of a step. */
const OF_EFFECTS = new Set(["input", "added", "removed", ...OF_STEP]);

/**
 * @param written the definition as it was written
 * @param steps the ids of its steps
 */
export function backtestIssues({ backtest, commit }: Top, steps: readonly string[]): LocatedIssue[] {
  const { allow } = (typeof backtest === "object" && backtest !== null ? backtest : {}) as Top;
  if (!Array.isArray(allow)) return [];
  return allow.flatMap((name: unknown, index) => {
    const issue =
      typeof name === "string" ? issueOf(normalName(name).split("."), { commit, steps }) : undefined;
    return issue === undefined
      ? []
      : [
          {
            path: ["backtest", "allow", index],
            code: "no_difference",
            severity: "warning" as const,
            ...issue,
          },
        ];
  });
}

function issueOf(
  [root, id, part]: string[],
  { commit, steps }: { commit: unknown; steps: readonly string[] },
): Pick<LocatedIssue, "message" | "fix"> | undefined {
  if (root === "committed" && commit === undefined)
    return { message: "names saved state, and the definition has no commit", fix: "Remove it." };
  if (root !== "steps" && root !== "given") return undefined;
  if (id !== undefined && !steps.includes(id)) {
    const near = nearMatch(id, steps);
    return {
      message: `names the step ${id}, which does not exist`,
      fix: near === undefined ? "Remove it, or name a step." : `Write ${root}.${near}.`,
    };
  }
  if (root === "given" || part === undefined || OF_EFFECTS.has(part)) return undefined;
  return {
    message: `names ${part} of the step ${id}, and what can differ is its input, or that it is added or removed`,
    fix: `Write steps.${id}.input.${part}.`,
  };
}
