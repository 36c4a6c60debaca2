/** Checks steps against connections and other workflows, through the checks of their types, with a timeout. */
import { COMMAND_LINE } from "../../../../schemas/actor.ts";
import type { CallContext, Connections, PartialIssue } from "../../../core/connections.ts";
import { ANY, type Shape } from "../../../core/shapes.ts";
import { StepError } from "../../../core/step-errors.ts";
import type { StepCheck, StepCheckContext, UnresolvedStep } from "../../../core/step-type.ts";
import type { CalledWorkflows } from "./called-workflows.ts";
import { SECOND } from "../../../core/clock.ts";
import type { ParsedStep } from "./schema-check.ts";
import pLimit from "p-limit";

/** Maximum number of checks at a time. */
const MAX_CHECKS = 8;
/** Timeout of all checks of a definition together, in milliseconds. */
const ALL_MS = 20 * SECOND;

/** What steps are checked against; each is left out if they are not checked against it. */
export interface ExternalResources {
  connections?: Connections | undefined;
  workflows?: CalledWorkflows | undefined;
  isActiveUser?: StepCheckContext["isActiveUser"];
  memberEmails?: StepCheckContext["memberEmails"];
}

export interface ResourceChecker {
  /**
   * @param fields the shapes of the step's fields
   * @param earlierSteps returns the steps that have certainly ended before
   */
  check(
    step: ParsedStep,
    fields: Readonly<Record<string, Shape>>,
    earlierSteps: () => UnresolvedStep[],
  ): Promise<StepCheck>;
  close(): void;
}

class NoResources extends Error {}
const noResources = (): never => {
  throw new NoResources();
};

/** Replaces resources that must not be used. A check that needs them reports nothing; other checks run as usual. */
const NO_CONNECTIONS = new Proxy({} as Connections, { get: noResources });
const NO_WORKFLOWS: CalledWorkflows = { find: noResources, ids: noResources };

/**
 * @param call whom the definition is checked for; when its signal is aborted, checks throw its reason
 * @param ms timeout of all checks together, in milliseconds
 */
export function resourceChecker(
  { connections = NO_CONNECTIONS, workflows = NO_WORKFLOWS, isActiveUser, memberEmails }: ExternalResources,
  { owner = COMMAND_LINE, signal }: Partial<CallContext>,
  ms = ALL_MS,
): ResourceChecker {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), ms);
  const stop = signal === undefined ? timeout.signal : AbortSignal.any([timeout.signal, signal]);
  const stopped = Promise.withResolvers<never>();
  stopped.promise.catch(() => undefined);
  const onStop = (): void => stopped.reject(new Error("stopped"));
  stop.addEventListener("abort", onStop, { once: true });
  const limit = pLimit(MAX_CHECKS);

  async function run(
    step: ParsedStep,
    fields: Readonly<Record<string, Shape>>,
    earlierSteps: () => UnresolvedStep[],
  ): Promise<StepCheck> {
    if (stop.aborted) throw new Error("stopped");
    const shapeOf = (field: string): Shape => fields[field] ?? ANY;
    const context: StepCheckContext = {
      connections,
      hasConnections: connections !== NO_CONNECTIONS,
      owner,
      signal: stop,
      shapeOf,
      shapeAt: (field, key) => entryOf(shapeOf(field), key),
      earlierSteps,
      workflow: async (id) => workflows.find(id),
      workflowIds: () => workflows.ids(),
      isActiveUser,
      memberEmails,
    };
    const check = (async () => step.type!.check!(step.checkable as UnresolvedStep, context))();
    return Promise.race([check, stopped.promise]);
  }

  return {
    async check(step, fields, earlierSteps) {
      try {
        return await limit(() => run(step, fields, earlierSteps));
      } catch (error) {
        if (error instanceof NoResources) return { issues: [] };
        signal?.throwIfAborted();
        if (stop.aborted) return { issues: [timeoutIssue(ms)] };
        if (error instanceof StepError) return { issues: [issueOf(error)] };
        throw error;
      }
    },
    close() {
      clearTimeout(timer);
      // Node keeps a signal made of others while it has a listener, and with it all that the listener refers to.
      stop.removeEventListener("abort", onStop);
    },
  };
}

const entryOf = (shape: Shape, key: string): Shape => {
  if (shape.kind === "map") return shape.of;
  return shape.kind === "object" && Object.hasOwn(shape.fields, key) ? shape.fields[key]! : ANY;
};

const timeoutIssue = (ms: number): PartialIssue => ({
  path: [],
  code: "check_timeout",
  message: `could not be checked within ${ms / SECOND} s: the resource that it uses did not answer`,
  fix: "Try again, or see in describe_environment which connections are unavailable.",
});

const issueOf = ({ code, message, options }: StepError): PartialIssue => ({
  path: [],
  code,
  message,
  ...(options.fix !== undefined && { fix: options.fix }),
});
