import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { openInstance } from "../../src/app/instance.ts";
import { FIRST_DECIDES } from "../../src/core/approval-rules.ts";
import { systemClock } from "../../src/core/clock.ts";
import { testCli } from "../support/command-line.ts";
import { keyPrincipal } from "../support/users.ts";
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
