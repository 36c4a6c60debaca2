/** A checker with test step types, whose checks a test can replace. */
import { z } from "zod";
import type { Issue } from "../../../../schemas/problem.ts";
import type { Connections } from "../../../../src/core/connections.ts";
import { ANY, listOf, NUMBER, objectOf } from "../../../../src/core/shapes.ts";
import {
  type AnyStepType,
  defineStepType,
  literal,
  type StepCheck,
  type StepCheckContext,
  template,
  type UnresolvedStep,
} from "../../../../src/core/step-type.ts";
import {
  type Checker,
  checker,
  type CheckerOptions,
  type CheckOptions,
} from "../../../../src/engine/definition/check/index.ts";
import { stepTypes } from "../../../../src/steps/index.ts";

type Check = (step: UnresolvedStep, ctx: StepCheckContext) => Promise<StepCheck>;

const common = { title: "", description: "", hasEffects: () => false, resource: () => null };

/** A query step with the given check. */
export const queryStep = (check: Check): AnyStepType =>
  defineStepType({
    ...common,
    type: "query",
    fields: {
      query: literal(z.string()),
      limit: template(z.int().max(10).optional()),
      tables: template(z.record(z.string(), z.array(z.unknown())).optional()),
    },
    example: { id: "a", type: "query", query: "select 1" },
    output: objectOf({ rows: listOf(ANY), row_count: NUMBER }),
    timeoutMs: 30_000,
    check,
    run: () => Promise.reject(new Error("not run here")),
  });

const realTypes = stepTypes.filter(({ type }) => ["set", "assert", "wait", "approval"].includes(type));

/** Connections without a mail server and without chats; nothing else may be used. */
const noConnections = {
  mailer: { unavailableReason: () => "no mail server" },
  chats: { list: () => [] },
} as unknown as Connections;

const TELL_THE_TEAM = { steps: [{ id: "sent", type: "set", values: { done: true } }] };

/** @param parts options that replace the defaults */
export const checkerOf = (parts: Partial<CheckerOptions> = {}, ...types: AnyStepType[]): Checker =>
  checker({
    stepTypes: [...realTypes, ...types],
    connections: noConnections,
    workflows: {
      find: (id) =>
        Promise.resolve(
          id === "tell-the-team" ? { status: "published", definition: TELL_THE_TEAM } : undefined,
        ),
      ids: () => Promise.resolve(["tell-the-team"]),
    },
    ...parts,
  });

export const defaultChecker = checkerOf();

/** Returns the issues of a definition, each as `path code`. */
export async function issuesOf(source: unknown, options: Partial<CheckOptions> = {}): Promise<string[]> {
  const { errors } = await defaultChecker.check(source, { checkConnections: true, ...options });
  return errors.map(({ path, code }) => `${path} ${code}`);
}

/** Returns the only issue of a definition. */
export async function issueOf(source: unknown, options: Partial<CheckOptions> = {}): Promise<Issue> {
  const { errors } = await defaultChecker.check(source, { checkConnections: true, ...options });
  if (errors.length !== 1) throw new Error(`Expected one issue, got ${JSON.stringify(errors)}`);
  return errors[0]!;
}

export const set = (id: string, values: unknown, more: object = {}) => ({ id, type: "set", values, ...more });
export const assert = (id: string, that: unknown, more: object = {}) => ({
  id,
  type: "assert",
  that,
  ...more,
});
