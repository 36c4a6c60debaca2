/** Holds a step against the real world through its type's own check, for so long and no longer. */
import type { Connections, PartialIssue } from "../../../core/connections.ts";
import { ANY, type Shape } from "../../../core/shapes.ts";
import { StepError } from "../../../core/step-errors.ts";
import type { StepCheck, StepCheckContext, UnresolvedStep } from "../../../core/step-type.ts";
import { SECOND } from "../../../core/clock.ts";
import type { ParsedStep } from "./schema-check.ts";
import pLimit from "p-limit";

const AT_A_TIME = 8;
const ALL_MS = 20 * SECOND;

export interface WorkflowLookup {
  /** The inputs (JSON Schema) and the output of a workflow; undefined where there is none. */
  workflow: StepCheckContext["workflow"];
  workflowIds: StepCheckContext["workflowIds"];
}

export interface ExternalResources {
  connections: Connections;
  workflows: WorkflowLookup;
}

export interface ResourceChecker {
  /** @param fields what is known of the step's expressions */
  check(step: ParsedStep, fields: Readonly<Record<string, Shape>>): Promise<StepCheck>;
  close(): void;
}

class NotBound extends Error {}
const notBound = (): never => {
  throw new NotBound();
};

/** A world that is not there: a check that asks for it is left alone, any other says what it can. */
const NOWHERE: ExternalResources = {
  connections: new Proxy({} as Connections, { get: notBound }),
  workflows: { workflow: notBound, workflowIds: notBound },
};

/**
 * @param world undefined where steps are not held against it
 * @param signal aborted by the caller: checks then throw its reason
 * @param ms how long all checks together may take
 */
export function resourceChecker(
  world: ExternalResources | undefined,
  signal: AbortSignal | undefined,
  ms = ALL_MS,
): ResourceChecker {
  const { connections, workflows } = world ?? NOWHERE;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), ms);
  const stop = signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]);
  const stopped = Promise.withResolvers<never>();
  stopped.promise.catch(() => undefined);
  stop.addEventListener("abort", () => stopped.reject(new Error("stopped")), { once: true });
  const limit = pLimit(AT_A_TIME);

  async function run(step: ParsedStep, fields: Readonly<Record<string, Shape>>): Promise<StepCheck> {
    if (stop.aborted) throw new Error("stopped");
    const shapeOf = (field: string): Shape => fields[field] ?? ANY;
    const context: StepCheckContext = {
      connections,
      signal: stop,
      shapeOf,
      shapeAt: (field, key) => entryOf(shapeOf(field), key),
      workflow: (id) => workflows.workflow(id),
      workflowIds: () => workflows.workflowIds(),
    };
    const check = (async () => step.type!.check!(step.parsed as UnresolvedStep, context))();
    return Promise.race([check, stopped.promise]);
  }

  return {
    async check(step, fields) {
      try {
        return await limit(() => run(step, fields));
      } catch (error) {
        if (error instanceof NotBound) return { issues: [] };
        signal?.throwIfAborted();
        if (stop.aborted) return { issues: [tooLate(ms)] };
        if (error instanceof StepError) return { issues: [issueOf(error)] };
        throw error;
      }
    },
    close: () => clearTimeout(timer),
  };
}

const entryOf = (shape: Shape, key: string): Shape => {
  if (shape.kind === "map") return shape.of;
  return shape.kind === "object" && Object.hasOwn(shape.fields, key) ? shape.fields[key]! : ANY;
};

const tooLate = (ms: number): PartialIssue => ({
  path: [],
  code: "check_timeout",
  message: `could not be checked within ${ms / SECOND} s: what it uses does not answer`,
  fix: "Try again, or see with describe_environment what can't be reached.",
});

const issueOf = ({ code, message, options }: StepError): PartialIssue => ({
  path: [],
  code,
  message,
  ...(options.fix !== undefined && { fix: options.fix }),
});
