/** Runs and jobs for tests of the store and the queue. */
import type { Job, NewRun } from "../../src/core/model.ts";
import type { StateChange } from "../../src/core/workflow-state-ports.ts";
import { StepStates } from "../../src/core/step-states.ts";

/** A run of the workflow "weekly" with one step, to be inserted. */
export const newRun = (id: string, fields: Partial<NewRun> = {}): NewRun => ({
  id,
  project: "default",
  workflowId: "weekly",
  version: 1,
  definition: null,
  status: "queued",
  stepStates: new StepStates(["queued"]),
  admitted: true,
  trigger: "rest",
  priority: 0,
  depth: 0,
  firstRunId: id,
  retryOf: null,
  isTrial: false,
  trial: null,
  replay: null,
  parent: null,
  scheduledFor: null,
  backfill: null,
  trace: null,
  stateRevision: null,
  actor: { owner: "operator", keyName: "ci", lineage: "key_1", surface: "rest", client: "vitest" },
  causes: [],
  createdAt: "2026-11-21T08:00:00.000Z",
  facts: null,
  pins: null,
  inputs: {},
  state: null,
  ...fields,
});

/** A claimed job of the first attempt of a step. */
export const claimedJob = (fields: Partial<Job> = {}): Job => ({
  id: 1,
  runId: "run_1",
  subject: "ann@example.com",
  workflowId: "weekly",
  stepId: "a",
  item: null,
  kind: "step",
  priority: 0,
  resource: null,
  attempt: 1,
  retryCount: 0,
  fence: 1,
  quarantined: false,
  crashCount: 0,
  ...fields,
});

/** How a test writes the state of a workflow. */
export const SET_BY_HAND: StateChange = { kind: "set", keyName: "ci", reason: "A test" };
