/** Moves checks of definitions and validations of values off the event loop, if they can take long. */
import { COMMAND_LINE } from "../../../schemas/actor.ts";
import type { Issue } from "../../../schemas/problem.ts";
import { AppError } from "../../core/errors.ts";
import type { CheckReport } from "../../core/engine-port.ts";
import type { PartialIssue } from "../../core/connections.ts";
import type { ReadValue } from "../../core/json-schema/index.ts";
import { isCheapValidation } from "../../core/json-schema/validation-cost.ts";
import { nextTurn } from "../../core/next-turn.ts";
import { inlineValidation, type Validated, type Validation } from "../../core/validation.ts";
import {
  ThreadError,
  type ThreadFailure,
  workerFile,
  type WorkerThreads,
  workerThreads,
} from "../../core/worker-thread.ts";
import type { CheckOptions } from "../definition/check/index.ts";
import { withAssumed } from "../definition/check/called-workflows.ts";
import {
  type CheckedText,
  type EngineTask,
  UNCHANGED,
  type TaskResult,
  type ValidatedText,
  type ValidationTask,
} from "./engine-task.ts";
import { checkAnswers, connectionLists, type LocalResources } from "./remote-resources.ts";

/** Number of threads: one owner uses one of them at a time. */
const THREADS = 2;
/** Maximum heap of a thread, in MiB. */
const MEMORY_MB = 512;
/** Processor time of a check, with all fixes that it applies, in milliseconds. */
const CHECK_CPU_MS = 10_000;
/** Processor time of a validation, in milliseconds. */
const VALIDATION_CPU_MS = 3_000;
/** Maximum time with all waiting, in milliseconds: connections may take 20 s of it. */
const WALL_MS = 60_000;
/** When a caller may try again after the machine was too busy, in seconds. */
const RETRY_AFTER_S = 5;

export interface EngineThreads {
  /** Checks a definition, as a `Checker` does. @throws AppError busy, rate_limited; the reason of the signal */
  check(source: unknown, options: CheckOptions, resources: LocalResources): Promise<CheckReport>;
  /** Validates values: small ones inline, the others in a thread. */
  validation: Validation;
  close(): Promise<void>;
}

/** @param options the processor time of a check and of a validation, in milliseconds; less is for tests */
export function engineThreads({
  checkCpuMs = CHECK_CPU_MS,
  validationCpuMs = VALIDATION_CPU_MS,
} = {}): EngineThreads {
  const threads: WorkerThreads<EngineTask, TaskResult> = workerThreads({
    file: workerFile("engine-worker", import.meta.url),
    threads: THREADS,
    memoryMb: MEMORY_MB,
    cpuMs: checkCpuMs,
    wallMs: WALL_MS,
  });
  return {
    check: (source, options, resources) =>
      checkInThread({ threads, cpuMs: checkCpuMs }, source, options, resources),
    validation: threadValidation(threads, validationCpuMs),
    close: () => threads.close(),
  };
}

type Threads = WorkerThreads<EngineTask, TaskResult>;

async function checkInThread(
  { threads, cpuMs }: { threads: Threads; cpuMs: number },
  source: unknown,
  {
    signal,
    owner = COMMAND_LINE,
    asPublished,
    unavailable,
    project: _project,
    keyLimits: _limits,
    ...options
  }: CheckOptions,
  resources: LocalResources,
): Promise<CheckReport> {
  const workflows = withAssumed(resources.workflows, { asPublished, unavailable });
  const ended = new AbortController();
  const stop = signal === undefined ? ended.signal : AbortSignal.any([signal, ended.signal]);
  const json = typeof source === "string" ? undefined : await jsonOf(source);
  try {
    const checked = (await threads.run(
      {
        kind: "check",
        source: json === undefined ? { yaml: source as string } : { json },
        options,
        connections: connectionLists(resources.connections),
        hasUsers: resources.isActiveUser !== undefined,
        now: resources.clock.now(),
        settings: resources.settings,
      },
      { owner, signal, answer: checkAnswers({ ...resources, workflows }, { owner, signal: stop }) },
    )) as CheckedText;
    await nextTurn();
    const report = JSON.parse(checked.report) as Omit<CheckReport, "definition">;
    return { ...report, definition: await definitionOf(checked, source) };
  } catch (error) {
    return tooMuchReport({ path: "", ...tooMuch(error, "check", cpuMs) });
  } finally {
    ended.abort();
  }
}

const tooMuchReport = (issue: Issue): CheckReport => ({
  valid: false,
  errors: [issue],
  warnings: [],
  definition: null,
  file: {},
  output_type: "any",
  steps: [],
});

/** Writing and reading a large text takes long enough to be a turn of the event loop of its own. */
async function jsonOf(value: unknown): Promise<string> {
  await nextTurn();
  const json = JSON.stringify(value ?? null);
  await nextTurn();
  return json;
}

async function definitionOf(
  { definition }: CheckedText,
  source: unknown,
): Promise<Record<string, unknown> | null> {
  if (definition === null) return null;
  await nextTurn();
  if (definition === UNCHANGED) return source as Record<string, unknown>;
  return JSON.parse(definition) as Record<string, unknown>;
}

function threadValidation(threads: Threads, cpuMs: number): Validation {
  async function validate(
    task: ValidationTask,
    value: unknown,
    options: Parameters<Validation["parseValue"]>[2] = {},
  ): Promise<Validated<unknown>> {
    try {
      const result = (await threads.run(task, { ...options, cpuMs })) as ValidatedText;
      await nextTurn();
      if ("issues" in result) return result;
      if (result.json === UNCHANGED) return { value };
      return { value: JSON.parse(result.json) as unknown };
    } catch (error) {
      return { issues: [{ path: [], ...tooMuch(error, "validate against its schema", cpuMs) }] };
    }
  }
  return {
    async parseInputs(schema, inputs, { asWritten = false, ...options } = {}) {
      if (isCheapValidation(schema ?? {}, inputs, asWritten))
        return inlineValidation.parseInputs(schema, inputs, { asWritten });
      const task: ValidationTask = { kind: "inputs", schema, json: await jsonOf(inputs ?? {}), asWritten };
      return (await validate(task, inputs, options)) as Validated<Record<string, unknown>>;
    },
    async readInputs(schema, inputs, otherNames, { keepsAllowed = false, ...options } = {}) {
      if (isCheapValidation(schema, inputs, true))
        return inlineValidation.readInputs(schema, inputs, otherNames, { keepsAllowed });
      const json = await jsonOf(inputs);
      const task: ValidationTask = { kind: "read", schema, json, otherNames, keepsAllowed };
      const read = await validate(task, inputs, options);
      return "value" in read ? (read.value as ReadValue) : { value: inputs, issues: read.issues };
    },
    async parseValue(schema, value, options) {
      if (isCheapValidation(schema, value)) return inlineValidation.parseValue(schema, value);
      return validate({ kind: "value", schema, json: await jsonOf(value) }, value, options);
    },
    async stateIssues(declaration, values, options) {
      if (isCheapValidation(declaration, values)) return inlineValidation.stateIssues(declaration, values);
      const result = await validate(
        { kind: "state", declaration, json: await jsonOf(values) },
        values,
        options,
      );
      return "issues" in result ? result.issues : [];
    },
  };
}

/**
 * Describes a failure that is due to the task.
 * @throws AppError busy, rate_limited where it is due to the load; any other error
 */
function tooMuch(error: unknown, action: string, cpuMs: number): Pick<PartialIssue, "code" | "message"> {
  if (!(error instanceof ThreadError)) throw error;
  switch (error.reason) {
    case "cpu_limit":
      return {
        code: "too_slow",
        message: `takes longer than ${cpuMs / 1_000} s of processor time to ${action}, so make it smaller or simpler`,
      };
    case "memory_limit":
      return {
        code: "too_large",
        message: `needs more than ${MEMORY_MB} MiB of memory to ${action}, so make it smaller or simpler`,
      };
    default:
      throw overload(error.reason);
  }
}

function overload(reason: Exclude<ThreadFailure, "cpu_limit" | "memory_limit">): AppError {
  const headers = { "Retry-After": String(RETRY_AFTER_S) };
  const again = `Nothing was done. Try again in ${RETRY_AFTER_S} s.`;
  return reason === "too_many_waiting"
    ? new AppError("rate_limited", `Too many of your requests wait to be checked. ${again}`, { headers })
    : new AppError("busy", `The machine is too busy to check this now. ${again}`, { headers });
}
