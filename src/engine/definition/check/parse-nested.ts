/** Parses the `undo` of steps: a step without an id, of a type that ends by itself. */
import type { StepDefinition } from "../../../../schemas/workflow-definition.ts";
import { nearMatch } from "../../../core/near-match.ts";
import type { AnyStepType } from "../../../core/step-type.ts";
import { canUndo, undoStepSchema } from "../definition-schema.ts";
import { type LocatedIssue, prefixPath } from "./check-report.ts";
import { literalFields, literalIssues, located, mergeIssues, type ParsedStep } from "./schema-check.ts";

/** Returns the steps with what undoes them. */
type UndoParser = (steps: readonly ParsedStep[]) => { steps: ParsedStep[]; issues: LocatedIssue[] };

/** @param stepTypes their schemas are built once */
export function undoParser(stepTypes: readonly AnyStepType[]): UndoParser {
  const types = new Map(
    stepTypes.filter(canUndo).map((type) => [type.type, { type, schema: undoStepSchema(type) }] as const),
  );

  function parse(raw: ParsedStep["raw"]): { undo: ParsedStep; issues: LocatedIssue[] } {
    const { type: name } = raw;
    const entry = typeof name === "string" ? types.get(name) : undefined;
    const parsed = entry?.schema.safeParse(raw, { reportInput: true });
    const issues =
      entry === undefined
        ? [unknownType(name, [...types.keys()])]
        : mergeIssues(
            literalIssues(raw, literalFields(entry.type)),
            parsed!.success ? [] : located(parsed!.error, entry.schema),
          );
    const step =
      parsed?.success === true && issues.length === 0 ? (parsed.data as StepDefinition) : undefined;
    const undo: ParsedStep = {
      raw,
      id: "undo",
      type: entry?.type,
      parsed: step,
      checkable: step,
      invalidFields: new Set(issues.map(({ path }) => String(path[0] ?? ""))),
    };
    return { undo, issues };
  }

  return (steps) => {
    const issues: LocatedIssue[] = [];
    const withUndo = steps.map((step, index) => {
      const { undo } = step.raw;
      // The schema of the step reports any other value.
      if (typeof undo !== "object" || undo === null || Array.isArray(undo)) return step;
      const result = parse(undo as ParsedStep["raw"]);
      issues.push(...result.issues.map((issue) => prefixPath(["steps", index, "undo"], issue)));
      return Object.assign({}, step, { undo: result.undo });
    });
    return { steps: withUndo, issues };
  };
}

function unknownType(name: unknown, allowed: string[]): LocatedIssue {
  const near = typeof name === "string" ? nearMatch(name, allowed) : undefined;
  return {
    path: ["type"],
    code: name === undefined ? "missing" : "not_allowed",
    message:
      name === undefined ? "is required" : `must be a type that can undo a step: ${allowed.join(", ")}`,
    allowed,
    ...(near !== undefined && { did_you_mean: near }),
    fix: near === undefined ? `Set it to one of ${allowed.join(", ")}.` : `Write ${near}.`,
  };
}
