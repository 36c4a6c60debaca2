import type { Chats } from "../../src/core/chat-port.ts";
import { FIRST_DECIDES } from "../../src/core/approval-rules.ts";
import { describe, expect, test } from "vitest";
import { NUMBER, objectOf, STRING } from "../../src/core/shapes.ts";
import { approvalStep } from "../../src/steps/approval.ts";
import { assertStep } from "../../src/steps/assert.ts";
import { setStep } from "../../src/steps/set.ts";
import { waitStep } from "../../src/steps/wait.ts";
import { workflowStep } from "../../src/steps/workflow.ts";
import { checkStep, runStep } from "../support/step-check.ts";

describe("a set step", () => {
  test("returns its values, with their shapes", async () => {
    expect(await runStep(setStep, { values: { best: "north", n: 3 } })).toEqual({
      kind: "done",
      output: { best: "north", n: 3 },
    });
    const shape = objectOf({ best: STRING, n: NUMBER });
    const { issues, output } = await checkStep(
      setStep,
      { values: { best: "north", n: 3 } },
      { shapeOf: () => shape },
    );
    expect([issues, output]).toEqual([[], shape]);
  });

  test("rejects names that every step has, whether literal or computed", async () => {
    for (const name of ["status", "error", "items"]) {
      const { issues } = await checkStep(setStep, { values: { [name]: 1 } });
      expect(issues).toMatchObject([{ path: ["values", name], code: "reserved_name" }]);
      await expect(runStep(setStep, { values: { [name]: 1 } })).rejects.toMatchObject({
        code: "input_invalid",
      });
    }
  });
});

describe("an assert step", () => {
  test("succeeds on true, and fails with its message on false or null", async () => {
    expect(await runStep(assertStep, { that: true })).toEqual({ kind: "done", output: { ok: true } });
    await expect(runStep(assertStep, { that: false, message: "No orders." })).rejects.toMatchObject({
      code: "assert_failed",
      message: "No orders.",
    });
    await expect(runStep(assertStep, { that: null })).rejects.toMatchObject({
      code: "assert_failed",
      message: "The condition is not true.",
    });
  });

  test("rejects a condition that is not a boolean", async () => {
    expect((await checkStep(assertStep, { that: "1" }, { shapeOf: () => NUMBER })).issues).toMatchObject([
      { path: ["that"], code: "wrong_type" },
    ]);
    expect(
      (await checkStep(assertStep, { that: "true" }, { shapeOf: () => ({ kind: "null" }) })).issues,
    ).toEqual([]);
  });
});

describe("a wait step", () => {
  test("waits for a duration or until a time", async () => {
    const until = Date.parse("2026-11-21T08:10:00.000Z");
    expect(await runStep(waitStep, { for: "10m" })).toEqual({ kind: "wait", until });
    expect(await runStep(waitStep, { until: "2026-11-21T09:10:00+01:00" })).toEqual({ kind: "wait", until });
  });

  test("ends at once when the time has passed", async () => {
    expect(await runStep(waitStep, { until: "2020-01-01T00:00:00Z" })).toEqual({
      kind: "done",
      output: { waited_until: "2020-01-01T00:00:00.000Z" },
    });
  });

  test("waits for at most a year", async () => {
    await expect(runStep(waitStep, { until: "2028-01-01T00:00:00Z" })).rejects.toMatchObject({
      code: "input_invalid",
    });
    expect((await checkStep(waitStep, { for: "366d" })).issues).toMatchObject([
      { path: ["for"], code: "too_large" },
    ]);
    expect((await checkStep(waitStep, { for: "365d" })).issues).toEqual([]);
  });

  test("requires exactly one of for and until", async () => {
    expect((await checkStep(waitStep, {})).issues).toMatchObject([{ code: "invalid" }]);
    expect((await checkStep(waitStep, { for: "1m", until: "x" })).issues).toMatchObject([
      { code: "invalid" },
    ]);
    await expect(runStep(waitStep, {})).rejects.toMatchObject({ code: "input_invalid" });
  });
});

/** A mail server for addresses of example.com. @param reason why it can't be used */
const mailer = (reason: string | null) => ({
  connections: {
    chats: { list: () => [] } as unknown as Chats,
    mailer: {
      unavailableReason: () => reason,
      allowedDomains: () => ["example.com"],
      send: () => Promise.reject(new Error("not sent in a check")),
    },
  },
});

const isActiveUser = (email: string) => Promise.resolve(email === "ada@example.com");

describe("an approval step", () => {
  const form = { type: "object", properties: { budget: { type: "number" } }, required: ["budget"] };

  test("asks with its form and assignees", async () => {
    expect(await runStep(approvalStep, { message: "Send?" })).toEqual({
      kind: "approval",
      message: "Send?",
      form: null,
      assignees: [],
      rules: FIRST_DECIDES,
      evidence: null,
      delivery: { byLink: false, chat: [] },
    });
    expect(
      await runStep(approvalStep, { message: "Send?", form, assignees: ["ada@example.com"] }),
    ).toMatchObject({
      form,
      assignees: ["ada@example.com"],
    });
    await expect(runStep(approvalStep, { message: "Send?", assignees: ["ada"] })).rejects.toThrow(
      "mail address",
    );
  });

  test("is checked for assignees that mail may not go to, if there is a mail server", async () => {
    const assignees = ["ada@example.com", "eve@evil.test", "${{ inputs.by }}"];
    expect((await checkStep(approvalStep, { message: "?", assignees }, mailer(null))).issues).toMatchObject([
      { path: ["assignees", 1], code: "mail_refused", allowed: ["example.com"] },
    ]);
    const unmailed = await checkStep(approvalStep, { message: "?", assignees }, mailer("no server"));
    expect(unmailed.issues).toMatchObject([
      { path: ["assignees"], severity: "warning", message: "sends no mail: no server" },
    ]);
    const { issues, output } = await checkStep(approvalStep, { message: "?", assignees, form });
    expect({
      issues,
      form: (output as { fields: Record<string, { kind: string }> }).fields["form"]!.kind,
    }).toEqual({
      issues: [],
      form: "object",
    });
  });

  test("warns of assignees who are no active users", async () => {
    const assignees = ["ada@example.com", "bob@example.com", "${{ inputs.by }}"];
    expect(
      (await checkStep(approvalStep, { message: "?", assignees }, { isActiveUser })).issues,
    ).toMatchObject([{ path: ["assignees", 1], code: "not_a_user", severity: "warning" }]);
  });

  test("derives its output from the form", async () => {
    const { issues, output } = await checkStep(approvalStep, { message: "Send?", form });
    expect(issues).toEqual([]);
    expect(output).toMatchObject({ fields: { form: { kind: "object", fields: { budget: NUMBER } } } });
  });

  test("rejects a form that is not the schema of an object", async () => {
    expect((await checkStep(approvalStep, { form: { type: "string" } })).issues).toMatchObject([
      { path: ["form", "type"], code: "not_allowed" },
    ]);
    const broken = { type: "object", propertys: {} };
    expect((await checkStep(approvalStep, { form: broken })).issues).toMatchObject([
      { path: ["form", "propertys"], did_you_mean: "properties" },
    ]);
  });
});

describe("a workflow step", () => {
  const world = {
    workflow: (id: string) =>
      Promise.resolve(
        id === "weekly-revenue"
          ? {
              inputs: {
                type: "object",
                properties: {
                  since: { type: "string" },
                  top: { type: "integer" },
                  by: { enum: ["region", "day"], default: "day" },
                },
                required: ["since", "by"],
              },
              output: objectOf({ total: NUMBER }),
            }
          : undefined,
      ),
    workflowIds: () => Promise.resolve(["weekly-revenue"]),
  };

  test("starts another workflow", async () => {
    expect(await runStep(workflowStep, { workflow: "weekly-revenue" })).toEqual({
      kind: "child",
      workflow: "weekly-revenue",
      inputs: {},
    });
  });

  test("derives its output from the other workflow", async () => {
    const step = { workflow: "weekly-revenue", inputs: { since: "2026-01-01" } };
    const { issues, output } = await checkStep(workflowStep, step, world);
    expect(issues).toEqual([]);
    expect(output).toEqual(objectOf({ output: objectOf({ total: NUMBER }), run_id: STRING }));
  });

  test("suggests the nearest id for an unknown workflow", async () => {
    const { issues } = await checkStep(workflowStep, { workflow: "weekly-revenu" }, world);
    expect(issues).toMatchObject([
      { path: ["workflow"], code: "unknown_workflow", did_you_mean: "weekly-revenue" },
    ]);
  });

  test("rejects inputs that the other workflow does not accept", async () => {
    const inputs = { sinse: "${{ inputs.since }}", top: "many", by: "${{ inputs.by }}" };
    const { issues } = await checkStep(workflowStep, { workflow: "weekly-revenue", inputs }, world);
    expect(issues.map(({ path, code, did_you_mean: near }) => [path?.join("."), code, near])).toEqual([
      ["inputs.since", "missing", undefined],
      ["inputs.sinse", "unknown_key", "since"],
      ["inputs.top", "wrong_type", undefined],
    ]);
  });

  test("rejects an expression of the wrong kind", async () => {
    const step = { workflow: "weekly-revenue", inputs: { since: "${{ steps.n.count }}" } };
    const { issues } = await checkStep(workflowStep, step, {
      ...world,
      shapeOf: () => objectOf({ since: NUMBER }),
    });
    expect(issues).toMatchObject([
      {
        path: ["inputs", "since"],
        code: "wrong_type",
        message: "must be text, but the expression returns a number",
      },
    ]);
  });

  test("passes no inputs to a workflow that has none", async () => {
    const takesNothing = { ...world, workflow: () => Promise.resolve({ inputs: null, output: NUMBER }) };
    const step = { workflow: "w", inputs: { a: 1 } };
    expect((await checkStep(workflowStep, step, takesNothing)).issues).toMatchObject([
      { path: ["inputs", "a"], code: "unknown_key" },
    ]);
    expect((await checkStep(workflowStep, { workflow: "w" }, takesNothing)).issues).toEqual([]);
  });
});
