import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { openInstance } from "../../src/app/instance.ts";
import * as approvals from "../../src/commands/approvals.ts";
import type { Io } from "../../src/commands/io.ts";
import { FIRST_DECIDES } from "../../src/core/approval-rules.ts";
import { systemClock } from "../../src/core/clock.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { testCli } from "../support/command-line.ts";
import { testInstance } from "../support/instance.ts";
import { callAs, keyPrincipal, signedInUser } from "../support/users.ts";
import { newRun } from "../support/run-records.ts";

const AT = "2026-11-21T08:00:00.000Z";

/** A state with an approval that two of two people must decide; one has declined before it was cancelled. */
async function open() {
  const { cli, stateDir } = await testCli();
  await cli("users", "list");
  const instance = await openInstance({ stateDir }, systemClock, pino({ level: "silent" }));
  const actor = { principal: keyPrincipal(), client: { surface: "rest", name: "vitest" } } as const;
  await instance.write({ operation: "create_workflow", actor, requestId: "req_1" }, async (tx) => {
    await tx.runs.insert(newRun("run_1", { workflowId: null }));
    await tx.approvals.insert({
      id: "apr_1",
      runId: "run_1",
      workflowId: null,
      stepId: "ask",
      item: null,
      status: "cancelled",
      message: "Pay 300 EUR?",
      form: null,
      assignees: ["ann@example.com", "admin"],
      createdAt: AT,
      expiresAt: null,
      decidedAt: AT,
      decidedBy: null,
      comment: null,
      answer: null,
      plan: null,
      rules: { ...FIRST_DECIDES, required: 2 },
      evidence: null,
      delivery: { byLink: false, chat: [] },
      decidedVia: null,
    });
    await tx.approvals.addDecision("apr_1", {
      person: "ben@example.com",
      seat: "ann@example.com",
      name: "ben@example.com",
      approved: true,
      override: false,
      comment: "Right.",
      answer: null,
      decidedAt: AT,
      planDigest: "plan",
    });
  });
  await instance.close();
  return { cli };
}

describe("millrace approvals", () => {
  it("lists them with how many have approved, and says of which status there is none", async () => {
    const { cli } = await open();
    expect((await cli("approvals", "list")).out).toBe("No approval is pending.\n");
    const { out } = await cli("approvals", "list", "--status", "cancelled");
    expect(out).toMatch(/apr_1 +a single step +ask +1 of 2 +ann@example.com, admin +/);
  });

  it("shows the question and each decision, and names an approval that is not there", async () => {
    const { cli } = await open();
    const { out } = await cli("approvals", "show", "apr_1");
    expect(out).toContain("Pay 300 EUR?");
    expect(out).toContain(`- ben@example.com approved at ${AT} in the place of ann@example.com: Right.`);
    const decided = await cli("approvals", "decide", "apr_none", "--decision", "approve", "--digest", "x");
    expect(decided.err).toContain('There is no approval "apr_none"');
  });
});

/** A pending approval of a running instance, and the commands on its state. */
async function pending(step: object) {
  const instance = await testInstance();
  const { queue } = await instance.executor();
  for (const name of ["ben", "cai"])
    await signedInUser(instance, { email: `${name}@example.com`, role: "editor" });
  const { principal } = await signedInUser(instance, { email: "dan@example.com", role: "editor" });
  const author = callAs(instance, { ...keyPrincipal(), lineage: "key_author" });
  const { id: workflow } = await author(createWorkflow, {
    name: "Asks",
    definition: { steps: [{ id: "ask", type: "approval", message: "Go on?", ...step }] },
  });
  const run = await callAs(instance, principal)(runWorkflow, { workflow_id: workflow, wait: 0 });
  const proceed = async () => {
    queue.wake();
    await queue.waitUntilIdle();
  };
  await proceed();
  const { services } = instance;
  const find = async () =>
    (await services.read.approvals.findByStep({ runId: run.id, stepId: "ask", item: null }))!;
  const { id } = await find();
  const { digest } = await services.engine.remainingWork(services.read, await find());
  const command = async (work: (io: Io) => Promise<void>): Promise<string> => {
    let out = "";
    const env = { MILLRACE_STATE_DIR: instance.stateDir };
    const write = (text: string): void => void (out += text);
    await work({ out: write, err: write, terminal: false, errTerminal: false, env, onExit: () => {} });
    return out;
  };
  return {
    id,
    digest,
    find,
    proceed,
    command,
    status: async () => (await services.read.runs.find(run.id))!.status,
  };
}

describe("millrace approvals decide and delegate", () => {
  it("decide in place of the assignees, one of two people, and say how many have approved", async () => {
    const { id, digest, find, command } = await pending({
      assignees: ["ben@example.com", "cai@example.com"],
      required: 2,
    });
    const decision = { decision: "approve", digest };
    await expect(command((io) => approvals.decide(io, id, decision))).rejects.toMatchObject({
      code: "approval_not_yours",
    });
    const out = await command((io) =>
      approvals.decide(io, id, { ...decision, override: true, comment: "Seen." }),
    );
    expect(out).toBe(`Approved ${id}: 1 of 2 people have approved.\n`);
    expect(await find()).toMatchObject({
      status: "pending",
      decisions: [{ override: true, comment: "Seen." }],
    });
  });

  it("decline, after which the run continues", async () => {
    const { id, digest, command, proceed, status } = await pending({});
    const out = await command((io) => approvals.decide(io, id, { decision: "decline", digest }));
    expect(out).toMatch(new RegExp(`^Declined ${id}\\. The run run_[\\w-]+ continues\\.\n$`));
    await proceed();
    expect(await status()).not.toBe("waiting");
  });

  it("pass the place of an assignee on", async () => {
    const { id, find, command } = await pending({ assignees: ["ben@example.com"] });
    const input = { from: "ben@example.com", to: "cai@example.com", note: "Ill." };
    const out = await command((io) => approvals.delegate(io, id, input));
    expect(out).toBe(`cai@example.com decides ${id} now, in the place of ben@example.com.\n`);
    expect((await find()).events.at(-1)).toMatchObject({
      kind: "delegated",
      by: "ben@example.com",
      to: ["cai@example.com"],
      note: "Ill.",
    });
  });
});
