/** Which steps with effects a retry would run again, as far as it can be known before. */
import type { Issue } from "../../schemas/problem.ts";
import type { StepDefinition, Definition } from "../../schemas/workflow-definition.ts";
import { canonicalJson } from "../../src/core/canonical-json.ts";
import type { StepRecord } from "../../src/core/run-ports.ts";
import type { AnyStepType } from "../../src/core/step-type.ts";
import { truncateText } from "./truncate.ts";

interface Before {
  definition: Definition;
  records: readonly StepRecord[];
}

interface Retry {
  definition: Definition;
  inputsChanged: boolean;
}

/**
 * A recorded output is taken where the step and its resolved input are the same. So a step runs again unless it had
 * succeeded, is written as before, and reads nothing that may be another: inputs that changed, the run itself, or a
 * step that runs again. Of those, the ones that were tried before and may do something twice are told.
 */
export function findRepeatedEffects(
  runId: string,
  before: Before,
  { definition, inputsChanged }: Retry,
  stepTypes: readonly AnyStepType[],
): Issue[] {
  const types = new Map(stepTypes.map((type) => [type.type, type]));
  const old = new Map(before.definition.steps.map((step) => [step.id, canonicalJson(step)]));
  const records = new Map(before.records.map((record) => [record.stepId, record]));
  const again = new Set<string>();
  const issues: Issue[] = [];
  const runsAgain = (step: StepDefinition): boolean => {
    const { reads, inputs, run } = readsOf(step);
    return (
      records.get(step.id)?.state !== "succeeded" ||
      old.get(step.id) !== canonicalJson(step) ||
      run ||
      (inputsChanged && inputs) ||
      reads.some((id) => again.has(id))
    );
  };
  // What a step reads may stand behind it in the list, where needs says so.
  for (let found = -1; found !== again.size;) {
    found = again.size;
    for (const step of definition.steps) if (!again.has(step.id) && runsAgain(step)) again.add(step.id);
  }
  for (const [index, step] of definition.steps.entries()) {
    const record = records.get(step.id);
    if (!again.has(step.id) || record === undefined || !wasTried(record)) continue;
    if (types.get(step.type)?.hasEffects(step) !== true) continue;
    issues.push({
      path: `steps[${index}]`,
      code: "would_run_again",
      message: `"${step.id}" (${step.type}) ${howItWent(record)} in ${runId}, and would run again`,
      fix: "See whether its effect took place (get_run with this step_id). Send confirm: true to run it again, or take it out with patch.",
    });
  }
  return issues;
}

const wasTried = ({ attempts, items }: StepRecord): boolean => attempts > 0 || (items?.started ?? 0) > 0;

function howItWent({ state, attempts, items, error }: StepRecord): string {
  if (items !== null) return `ran for ${items.started} items (${items.failed} failed)`;
  if (state === "succeeded") return "succeeded";
  const times = attempts === 1 ? "once" : `${attempts} times`;
  return `was tried ${times}${error === null ? "" : ` (${error.code}: ${truncateText(error.message, 200)})`}`;
}

/** What the expressions of a step name. Too much at worst, never too little: a word in plain text counts too. */
function readsOf(step: StepDefinition) {
  const written = JSON.stringify(step);
  return {
    reads: [...written.matchAll(/\bsteps\s*(?:\.\s*|\[\s*\\?["'])([a-z][a-z0-9_]*)/g)].map(
      (match) => match[1]!,
    ),
    inputs: /\binputs\b/.test(written),
    run: /\brun\b/.test(written),
  };
}
