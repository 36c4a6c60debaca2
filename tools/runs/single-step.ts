/** Prepares runs of single steps: a definition with one step, which belongs to no workflow. */
import type { Issue } from "../../schemas/problem.ts";
import { AppError } from "../../src/core/errors.ts";
import { schemaOfValue } from "../../src/core/json-schema/index.ts";
import { invalidInput } from "../../src/core/issues.ts";
import type { PreparedRun } from "../../src/core/engine-port.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { runActor, runCaller } from "./run-actor.ts";

interface SingleStep {
  project: string;
  /** As in a definition; `id` may be left out. */
  step: Readonly<Record<string, unknown>>;
  inputs: Readonly<Record<string, unknown>>;
  /** Where inputs were taken from, by name (`run_….rows`); kept in the definition. */
  from?: Readonly<Record<string, string>>;
}

/**
 * Prepares the run of a step.
 * @param pathOf the path in the input of the operation, from the path in the step; empty for the step itself
 * @throws AppError invalid_input with all issues of the step; those of `prepareRun`
 */
export async function prepareSingleStep(
  ctx: ToolContext,
  step: SingleStep,
  pathOf: (path: string) => string,
): Promise<PreparedRun> {
  try {
    return await ctx.engine.prepareRun({
      workflowId: null,
      project: step.project,
      definition: singleStepDefinition(step),
      caller: runCaller(ctx),
      inputs: step.inputs,
      actor: runActor(ctx),
      trigger: ctx.actor.client.surface,
      trace: ctx.trace,
    });
  } catch (error) {
    throw withStepPaths(error, pathOf);
  }
}

function singleStepDefinition({ step, inputs, from = {} }: SingleStep): Record<string, unknown> {
  return {
    ...(Object.keys(inputs).length > 0 && { inputs: inputsSchema(inputs, from) }),
    steps: [{ id: defaultId(step), ...step }],
  };
}

/** Describes the inputs, so that the checker knows what the expressions of the step can read. */
function inputsSchema(
  inputs: SingleStep["inputs"],
  from: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const properties = Object.entries(inputs).map(([name, value]) => {
    const source = Object.hasOwn(from, name) ? { $comment: from[name] } : {};
    return [name, { ...schemaOfValue(value), ...source }];
  });
  return { type: "object", properties: Object.fromEntries(properties), required: Object.keys(inputs) };
}

/** Where the inputs of a single step were taken from, by name (`run_….rows`). */
export function inputSourcesOf(definition: Readonly<Record<string, unknown>>): Record<string, string> {
  const { properties = {} } = (definition["inputs"] ?? {}) as {
    properties?: Readonly<Record<string, { $comment?: string }>>;
  };
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, { $comment: source }]) =>
      source === undefined ? [] : [[name, source]],
    ),
  );
}

const defaultId = ({ type }: SingleStep["step"]): string => (typeof type === "string" ? type : "step");

/** The place of the step in the definition, as issues name it. */
const STEP_PATH = /^steps\[0\]\.?/;

/** Issues of the step as issues of the operation's input; any other error as it is. */
function withStepPaths(error: unknown, pathOf: (path: string) => string): unknown {
  if (!(error instanceof AppError) || error.code !== "workflow_not_runnable") return error;
  const { errors: issues = [{ path: "steps[0]", code: error.code, message: error.message }] } = error.details;
  if (issues.some(({ code }) => code === "beyond_key_limits"))
    return new AppError("not_permitted", error.message, { errors: issues });
  return invalidInput(issues.map((issue) => ofInput(issue, pathOf)));
}

/** An issue of the input. It has no patch: that would be for a definition, which the caller has not sent. */
function ofInput(issue: Issue, pathOf: (path: string) => string): Issue {
  const { patch: _patch, ...rest } = issue;
  const path = STEP_PATH.test(rest.path) ? pathOf(rest.path.replace(STEP_PATH, "")) : rest.path;
  return { ...rest, path };
}
