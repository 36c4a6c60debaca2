/** Checks definitions before runs start, with their connections. */
import { LRUCache } from "lru-cache";
import type { Issue } from "../../../schemas/problem.ts";
import { canonicalJson } from "../../core/canonical-json.ts";
import type { ConnectionViews } from "../../core/connection-views.ts";
import type { CheckReport } from "../../core/engine-port.ts";
import type { CheckDefinition } from "./check/index.ts";
import { type Clock, MINUTE, SECOND } from "../../core/clock.ts";
import type { RunFacts, RunPins } from "../../core/model.ts";
import type { RunReader } from "../../core/run-ports.ts";
import { calledWorkflowIds } from "../../core/workflow-calls.ts";
import { STEP_ERRORS, type StepErrorCode } from "../../core/step-errors.ts";
import { isAllowedInSaved } from "./check/check-report.ts";
import { type DefinitionRef, versionDefinitionOf } from "./compiled-definition.ts";

export interface RunCheck {
  /** What keeps the definition from running. */
  issues: readonly Issue[];
  facts: RunFacts | null;
}

interface CheckOptions {
  /** What the run that calls this one has pinned; null for none. */
  pins: RunPins | null;
  /** The usage subject (usage-limits.ts) that the run belongs to. */
  owner: string;
  /** The project whose connections and workflows it can use. */
  project: string;
}

interface CachedCheck {
  result: RunCheck;
  /** Whether all connections were available. */
  isComplete: boolean;
  /** In milliseconds since 1970. */
  expiresAt: number;
}

/** Maximum number of definitions whose check is cached. */
const MAX_CACHED = 500;
/** How long a check without issues is valid: a table may be changed meanwhile. */
const VALID_MS = 5 * MINUTE;
/** The same, when a connection was unavailable. */
const INCOMPLETE_MS = 30 * SECOND;
/** Timeout of the checks against connections: an unavailable one must not delay the run for long. */
export const CONNECTIONS_MS = 3 * SECOND;

/**
 * Returns a function that checks the definition of a run, against what the run that calls it has pinned, if there is one. An unavailable connection is a matter for `retry`, not a reason to
 * refuse the run. A check with issues is never cached, because they may be repaired outside of the definition.
 */
export function runChecks(
  check: CheckDefinition,
  runs: Pick<RunReader, "versionDefinition">,
  views: ConnectionViews,
  clock: Clock,
  connectionsTimeoutMs: number,
): (ref: DefinitionRef, options: CheckOptions) => Promise<RunCheck> {
  const cache = new LRUCache<string, CachedCheck>({ max: MAX_CACHED });
  const running = new Map<string, Promise<RunCheck>>();

  async function checkNow(
    { workflowId, version, definition }: DefinitionRef,
    { pins, ...whom }: CheckOptions,
    key: string,
  ): Promise<RunCheck> {
    const source = definition ?? (await versionDefinitionOf(runs, { workflowId, version }));
    const report = await check(source, {
      checkConnections: true,
      connectionsTimeoutMs,
      selfId: workflowId ?? undefined,
      ...(pins !== null &&
        calledWorkflowIds(source ?? {}).length > 0 && { asPublished: await pinnedDefinitions(pins) }),
      ...whom,
    });
    const errors = report.errors.filter((issue) => !isAllowedInSaved(issue));
    const issues = errors.filter((issue) => !isUnavailable(issue));
    const isComplete = issues.length === errors.length;
    // What an earlier check has found is still likely while the connection is unavailable.
    const earlier = isComplete ? null : (cache.get(key)?.result.facts ?? null);
    const result = { issues, facts: mergeFacts(earlier, factsOf(report)) };
    const expiresAt = clock.now() + (isComplete ? VALID_MS : INCOMPLETE_MS);
    if (issues.length === 0) cache.set(key, { result, isComplete, expiresAt });
    else cache.delete(key);
    return result;
  }

  async function pinnedDefinitions(pins: RunPins): Promise<Map<string, Record<string, unknown>>> {
    const found = new Map<string, Record<string, unknown>>();
    for (const [id, version] of Object.entries(pins)) {
      const definition = await runs.versionDefinition(id, version);
      if (definition !== null) found.set(id, definition);
    }
    return found;
  }

  function start(ref: DefinitionRef, options: CheckOptions, key: string): Promise<RunCheck> {
    // A check waits behind the other ones of its owner, so owners don't share it.
    const runningKey = canonicalJson([options.owner, key]);
    const current = running.get(runningKey);
    if (current !== undefined) return current;
    const started = checkNow(ref, options, key).finally(() => running.delete(runningKey));
    running.set(runningKey, started);
    return started;
  }

  return async (ref, options) => {
    const { pins, project } = options;
    // A version never changes. The own definition of a run (a patched retry, a single step) is identified by its text.
    const { workflowId, version, definition } = ref;
    const own = definition === null ? `${workflowId}@${version}` : canonicalJson([workflowId, definition]);
    const { key: view } = await views.of(project);
    const key = canonicalJson([project, own, pins, view]);
    const cached = cache.get(key);
    if (cached === undefined) return start(ref, options, key);
    if (cached.expiresAt > clock.now()) return cached.result;
    const fresh = start(ref, options, key);
    if (cached.isComplete) return fresh;
    // A connection that stays unavailable delays only the first run.
    fresh.catch(() => undefined);
    return cached.result;
  };
}

/**
 * Codes of issues that say nothing about the definition, besides those of transient errors: something that it uses can't be
 * used now, or another workflow can't run. Whether a run needs it shows when it gets there.
 */
const UNAVAILABLE: ReadonlySet<string> = new Set([
  "check_timeout",
  "environment",
  "memory_limit",
  "unfit_inputs",
  "unusable",
  "workflow_archived",
  "workflow_not_runnable",
]);

const isUnavailable = ({ code }: Issue): boolean =>
  UNAVAILABLE.has(code) || (code in STEP_ERRORS && STEP_ERRORS[code as StepErrorCode].transient);

const factsOf = ({ steps }: CheckReport): RunFacts =>
  Object.fromEntries(steps.flatMap(({ id, facts }) => (facts === undefined ? [] : [[id, facts] as const])));

const mergeFacts = (earlier: RunFacts | null, found: RunFacts): RunFacts | null => {
  const merged = { ...found, ...earlier };
  return Object.keys(merged).length === 0 ? null : merged;
};
