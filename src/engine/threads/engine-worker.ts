/** A thread of the engine: it checks definitions, and validates values by the schemas of workflows. */
import { type Ask, type Interruption, serveThread } from "../../core/serve-thread.ts";
import { inlineValidation, type Validated } from "../../core/validation.ts";
import { stepTypes } from "../../steps/index.ts";
import { type Checker, checker } from "../definition/check/index.ts";
import {
  type CheckedText,
  type CheckTask,
  type EngineTask,
  type TaskResult,
  UNCHANGED,
  type ValidatedText,
  type ValidationTask,
} from "./engine-task.ts";
import { remoteConnections, remoteUsers, remoteWorkflows } from "./remote-resources.ts";

serveThread((task: EngineTask, ask, interruption): Promise<TaskResult> =>
  task.kind === "check" ? check(task, ask, interruption) : validate(task),
);

async function check(task: CheckTask, ask: Ask, { signal }: Interruption): Promise<CheckedText> {
  const { source } = task;
  const made = checkerOf(task, ask);
  const checked: unknown = "yaml" in source ? source.yaml : JSON.parse(source.json);
  const report = await made.check(checked, { ...task.options, signal });
  const {
    definition,
    // The types in words say enough, and a shape can be large.
    output_shape: _outputShape,
    inputs_shape: _inputsShape,
    parsed: _parsed,
    ...rest
  } = report;
  const steps = rest.steps.map(({ output: _output, ...step }) => step);
  const text = definition === null ? null : JSON.stringify(definition);
  return {
    report: JSON.stringify({ ...rest, steps }),
    definition: "json" in source && text === source.json ? UNCHANGED : text,
  };
}

const checkerOf = ({ connections, hasUsers, now, settings }: CheckTask, ask: Ask): Checker =>
  checker({
    stepTypes,
    clock: { now: () => now },
    ...settings,
    connections: remoteConnections(ask, connections),
    workflows: remoteWorkflows(ask),
    ...(hasUsers && remoteUsers(ask)),
  });

async function validate(task: ValidationTask): Promise<ValidatedText> {
  const value: unknown = JSON.parse(task.json);
  const parsed = await validated(task, value);
  if ("issues" in parsed) return { issues: parsed.issues };
  const json = JSON.stringify(parsed.value);
  return { json: json === task.json ? UNCHANGED : json };
}

async function validated(task: ValidationTask, value: unknown): Promise<Validated<unknown>> {
  switch (task.kind) {
    case "inputs":
      return inlineValidation.parseInputs(task.schema, value, { asWritten: task.asWritten });
    case "read":
      return { value: await inlineValidation.readInputs(task.schema, value, task.otherNames, task) };
    case "value":
      return inlineValidation.parseValue(task.schema, value);
    case "state":
      return {
        issues: await inlineValidation.stateIssues(
          task.declaration,
          value as Readonly<Record<string, unknown>>,
        ),
      };
  }
}
