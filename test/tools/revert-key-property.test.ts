/** A random history of changes by several keys and programs: a revert puts back what one of them changed. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { iso } from "../../src/core/clock.ts";
import { AppError } from "../../src/core/errors.ts";
import type { KeyChanges } from "../../schemas/key-changes.ts";
import { revertKeyChanges } from "../../tools/key-changes/revert-key-changes.ts";
import { pauseSchedule } from "../../tools/schedules/pause-schedule.ts";
import { resumeSchedule } from "../../tools/schedules/resume-schedule.ts";
import { archiveWorkflow } from "../../tools/workflows/archive-workflow.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { publishWorkflow } from "../../tools/workflows/publish-workflow.ts";
import { restoreWorkflow } from "../../tools/workflows/restore-workflow.ts";
import { unpublishWorkflow } from "../../tools/workflows/unpublish-workflow.ts";
import { updateWorkflow } from "../../tools/workflows/update-workflow.ts";
import { fakeClock, testInstance } from "../support/instance.ts";
import { callAs, keyPrincipal, signedInUser } from "../support/users.ts";
import { caseCount } from "../support/random.ts";

const KEYS = ["one", "two", "three"] as const;
const CLIENTS = ["agent", "script"] as const;
const WORKFLOWS = ["a", "b", "c", "d", "e", "f"] as const;

const ACTIONS = [
  "create",
  "edit",
  "edit",
  "rename",
  "publish",
  "publish earlier",
  "unpublish",
  "archive",
  "restore",
  "pause",
  "resume",
] as const;

interface Step {
  key: (typeof KEYS)[number];
  client: (typeof CLIENTS)[number];
  workflow: (typeof WORKFLOWS)[number];
  action: (typeof ACTIONS)[number];
  value: number;
}

/** Mostly, one key changes a workflow: else others would have changed each one afterwards. */
const step: fc.Arbitrary<Step> = fc
  .record({
    stray: fc.integer({ min: 0, max: 9 }),
    key: fc.constantFrom(...KEYS),
    client: fc.constantFrom(...CLIENTS),
    workflow: fc.constantFrom(...WORKFLOWS),
    action: fc.constantFrom(...ACTIONS),
    value: fc.nat(5),
  })
  .map(({ stray, ...rest }) =>
    stray === 0 ? rest : Object.assign(rest, { key: KEYS[WORKFLOWS.indexOf(rest.workflow) % KEYS.length]! }),
  );
const creations: Step[] = WORKFLOWS.map((workflow, index) => ({
  key: KEYS[index % KEYS.length]!,
  client: "agent",
  workflow,
  action: "create",
  value: index,
}));

const definition = (value: number) => ({
  steps: [{ id: "s", type: "set", values: { value } }],
  ...(value % 2 === 0 && { schedule: { cron: `0 ${value} * * *` } }),
});

/** All that a revert must put back. */
interface Snapshot {
  name: string;
  definition: unknown;
  status: string;
  published: number | null;
  paused: boolean | null;
}

async function openWorld() {
  const clock = fakeClock();
  const instance = await testInstance({ clock });
  const { principal: ann } = await signedInUser(instance, { email: "ann@example.com", role: "editor" });
  const keys = new Map<string, { id: string; lineage: string }>();
  for (const name of KEYS) {
    const { record } = await instance.key({ owner: "ann@example.com", name });
    keys.set(name, { id: record.id, lineage: record.lineage });
  }
  const { read } = instance.services;
  const snapshotOf = async (id: string): Promise<(Snapshot & { version: number }) | undefined> => {
    const found = await read.workflows.find(id);
    if (found === undefined) return undefined;
    const schedule = await read.schedules.find(id);
    return {
      version: found.version,
      name: found.name,
      definition: found.definition,
      status: found.status,
      published: found.published_version,
      paused: schedule?.paused ?? null,
    };
  };
  const snapshot = async () =>
    new Map(await Promise.all(WORKFLOWS.map(async (id) => [id, await snapshotOf(id)] as const)));

  async function play({ key, client, workflow: workflow_id, action, value }: Step): Promise<void> {
    const { id, lineage } = keys.get(key)!;
    const principal = {
      ...keyPrincipal(["read", "write", "publish", "run"], "ann@example.com"),
      keyId: id,
      keyName: key,
      lineage,
    };
    const call = callAs(instance, principal, { surface: "mcp", name: client });
    const newest = (await read.workflows.find(workflow_id))?.version ?? 1;
    const act: Record<Step["action"], () => Promise<unknown>> = {
      create: async () => {
        if ((await read.workflows.find(workflow_id)) === undefined)
          await call(createWorkflow, { name: workflow_id, definition: definition(value) });
      },
      edit: () => call(updateWorkflow, { workflow_id, definition: definition(value) }),
      rename: () => call(updateWorkflow, { workflow_id, name: `Name ${value}` }),
      publish: () => call(publishWorkflow, { workflow_id }),
      "publish earlier": () => call(publishWorkflow, { workflow_id, version: (value % newest) + 1 }),
      unpublish: () => call(unpublishWorkflow, { workflow_id }),
      archive: () => call(archiveWorkflow, { workflow_id }),
      restore: () => call(restoreWorkflow, { workflow_id }),
      pause: () => call(pauseSchedule, { workflow_id }),
      resume: () => call(resumeSchedule, { workflow_id }),
    };
    try {
      await act[action]();
    } catch (error) {
      // An operation on a workflow that does not exist, or that is archived, changes nothing.
      if (!(error instanceof AppError) || error.status >= 500) throw error;
    }
  }

  const revert = (input: object): Promise<KeyChanges> =>
    callAs(instance, ann)(revertKeyChanges, { ...input });
  return { clock, keys, snapshot, play, revert };
}

const withoutVersion = (snapshot: (Snapshot & { version: number }) | undefined) => {
  const { version: _, ...rest } = snapshot ?? { version: 0 };
  return rest;
};
const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

type World = Map<string, (Snapshot & { version: number }) | undefined>;
interface Touch {
  workflow: string;
  step: Step;
  /** The state before it. */
  before: (Snapshot & { version: number }) | undefined;
  at: number;
}

/** What a workflow must be after a revert, and whether others keep it from being reverted. */
function expectedAfter(
  touches: readonly Touch[],
  isSubject: (step: Step) => boolean,
  now: (Snapshot & { version: number }) | undefined,
): { state: unknown; isSkipped: boolean } {
  const first = touches.findIndex((touch) => isSubject(touch.step));
  const isSkipped = first >= 0 && touches.slice(first).some((touch) => !isSubject(touch.step));
  if (first < 0 || isSkipped) return { state: withoutVersion(now), isSkipped };
  const { before } = touches[first]!;
  // What the key created is archived, and keeps its content.
  const state = before ?? { ...now!, status: "archived", paused: null };
  return { state: withoutVersion(state), isSkipped };
}

describe("a revert of a random history", () => {
  it("puts back exactly what one key, or one program of it, changed, and nothing twice", async () => {
    let reverted = 0;
    let skipped = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 20, maxLength: 60 }).map((steps) => creations.concat(steps)),
        fc.nat(65),
        fc.nat(65),
        fc.constantFrom(...KEYS),
        fc.option(fc.constantFrom(...CLIENTS), { nil: undefined }),
        async (steps, one, other, key, client) => {
          const world = await openWorld();
          const touches: Touch[] = [];
          const times: number[] = [];
          let state: World = await world.snapshot();
          for (const [at, each] of steps.entries()) {
            world.clock.advance(1_000);
            times.push(world.clock.now());
            await world.play(each);
            const next = await world.snapshot();
            for (const workflow of WORKFLOWS)
              if (!isSame(state.get(workflow), next.get(workflow)))
                touches.push({ workflow, step: each, before: state.get(workflow), at });
            state = next;
          }
          world.clock.advance(1_000);
          const isSubject = (each: Step) =>
            each.key === key && (client === undefined || each.client === client);
          const moments = [one % steps.length, other % steps.length].toSorted((a, b) => b - a);
          // First since the later moment, then since the earlier one, which covers the first window again.
          for (const moment of moments) {
            const input = {
              key_id: world.keys.get(key)!.id,
              since: iso(times[moment]!),
              ...(client && { client }),
            };
            const before = await world.snapshot();
            const planned = await world.revert({ ...input, dry_run: true });
            expect(await world.snapshot()).toEqual(before);
            const response = await world.revert(input);
            expect(
              response.workflows.map(({ workflow_id, outcome, effects }) => [workflow_id, outcome, effects]),
            ).toEqual(
              planned.workflows.map(({ workflow_id, outcome, effects }) => [
                workflow_id,
                outcome === "revertible" ? "reverted" : outcome,
                effects,
              ]),
            );
            const after = await world.snapshot();
            const wanted = new Map(
              WORKFLOWS.map((workflow) => {
                const window = touches.filter((touch) => touch.workflow === workflow && touch.at >= moment);
                return [workflow, expectedAfter(window, isSubject, before.get(workflow))];
              }),
            );
            const found = WORKFLOWS.map((workflow) => [workflow, withoutVersion(after.get(workflow))]);
            expect(new Map(found as never)).toEqual(
              new Map([...wanted].map(([workflow, { state: expected }]) => [workflow, expected])),
            );
            const outcomes = response.workflows.filter(({ outcome }) => outcome === "skipped");
            for (const { workflow_id } of outcomes)
              expect(wanted.get(workflow_id as never)!.isSkipped).toBe(true);
            reverted += response.workflows.filter(({ outcome }) => outcome === "reverted").length;
            skipped += outcomes.length;
            const again = await world.revert(input);
            const isDone = new Set(
              response.workflows.flatMap(({ workflow_id, outcome }) =>
                outcome === "reverted" ? [workflow_id] : [],
              ),
            );
            expect(again.workflows.filter(({ workflow_id }) => isDone.has(workflow_id))).toEqual([]);
            expect(again.workflows.filter(({ outcome }) => outcome === "reverted")).toEqual([]);
            expect(await world.snapshot()).toEqual(after);
          }
        },
      ),
      { numRuns: caseCount(10, 100) },
    );
    // The histories were neither empty nor all of one kind.
    expect(Math.min(reverted, skipped)).toBeGreaterThan(10);
  });
});
