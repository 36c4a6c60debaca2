/** Parses the steps inside of steps, `undo` and `lookup`: each is a step without an id. */
import type { StepDefinition } from "../../../../schemas/workflow-definition.ts";
import { nearMatch } from "../../../core/near-match.ts";
import type { AnyStepType } from "../../../core/step-type.ts";
import { NESTED_STEPS, type NestedField, nestedStepSchema } from "../definition-schema.ts";
import { type LocatedIssue, prefixPath } from "./check-report.ts";
import { literalFields, literalIssues, located, mergeIssues, type ParsedStep } from "./schema-check.ts";

const FIELDS = Object.keys(NESTED_STEPS) as NestedField[];

/** Returns the steps with those inside them. */
type NestedParser = (steps: readonly ParsedStep[]) => { steps: ParsedStep[]; issues: LocatedIssue[] };

/** @param stepTypes their schemas are built once */
export function nestedParser(stepTypes: readonly AnyStepType[]): NestedParser {
  const parsers = FIELDS.map((field) => [field, parserOf(field, stepTypes)] as const);
  return (steps) => {
    const issues: LocatedIssue[] = [];
    const parsed = steps.map((step, index) => {
      const nested: Partial<Record<NestedField, ParsedStep>> = {};
      for (const [field, parse] of parsers) {
        const raw = step.raw[field];
        // The schema of the step reports any other value.
        if (typeof raw !== "object" || raw === null || Array.isArray(raw)) continue;
        const result = parse(raw as ParsedStep["raw"]);
        issues.push(...result.issues.map((issue) => prefixPath(["steps", index, field], issue)));
        nested[field] = result.step;
      }
      return Object.assign({}, step, nested);
    });
    return { steps: parsed, issues };
  };
}

type Parse = (raw: ParsedStep["raw"]) => { step: ParsedStep; issues: LocatedIssue[] };

function parserOf(field: NestedField, stepTypes: readonly AnyStepType[]): Parse {
  const { accepts, purpose } = NESTED_STEPS[field];
  const types = new Map(
    stepTypes
      .filter(accepts)
      .map((type) => [type.type, { type, schema: nestedStepSchema(field, type) }] as const),
  );
  return (raw) => {
    const { type: name } = raw;
    const entry = typeof name === "string" ? types.get(name) : undefined;
    const parsed = entry?.schema.safeParse(raw, { reportInput: true });
    const issues =
      entry === undefined
        ? [unknownType(name, [...types.keys()], purpose)]
        : mergeIssues(
            literalIssues(raw, literalFields(entry.type)),
            parsed!.success ? [] : located(parsed!.error, entry.schema),
          );
    const valid =
      parsed?.success === true && issues.length === 0 ? (parsed.data as StepDefinition) : undefined;
    const step: ParsedStep = {
      raw,
      id: field,
      type: entry?.type,
      parsed: valid,
      checkable: valid,
      invalidFields: new Set(issues.map(({ path }) => String(path[0] ?? ""))),
    };
    return { step, issues };
  };
}

function unknownType(name: unknown, allowed: string[], purpose: string): LocatedIssue {
  const near = typeof name === "string" ? nearMatch(name, allowed) : undefined;
  return {
    path: ["type"],
    code: name === undefined ? "missing" : "not_allowed",
    message: name === undefined ? "is required" : `must be a type that can ${purpose}: ${allowed.join(", ")}`,
    allowed,
    ...(near !== undefined && { did_you_mean: near }),
    fix: near === undefined ? `Set it to one of ${allowed.join(", ")}.` : `Write ${near}.`,
  };
}
