import { describe, expect, it } from "vitest";
import type { RunStep } from "../../../schemas/run.ts";
import { RUN_VIEW, runNodes, type ShownRun } from "../../../src/web/mcp-apps/run-view.ts";
import { buttonsOf, everyElement, textsOf } from "./nodes.ts";

const AT = "2026-11-02T08:00:00Z";
const later = (seconds: number): string => new Date(Date.parse(AT) + 1_000 * seconds).toISOString();
const NOW = Date.parse(later(20));

const step = (id: string, fields: Partial<RunStep> = {}): RunStep => ({
  id,
  type: "set",
  status: "succeeded",
  attempts: 1,
  started_at: AT,
  finished_at: later(5),
  error: null,
  ...fields,
});

const RUN: ShownRun = {
  id: "run_1",
  workflow_id: "weekly",
  version: 3,
  status: "running",
  trigger: "mcp",
  created_at: AT,
  started_at: AT,
  finished_at: null,
  error: null,
  steps: [step("first"), step("second", { status: "running", started_at: later(10), finished_at: null })],
};

describe("the view of a run (RUN_VIEW)", () => {
  it("reads the run of a result, also with chosen fields, and nothing else", () => {
    expect(RUN_VIEW.read({ id: "run_1", status: "failed" }, {})).toEqual({ id: "run_1", status: "failed" });
    expect(RUN_VIEW.read({ status: "failed" }, { run_id: "run_2" })).toEqual({
      id: "run_2",
      status: "failed",
    });
    expect(RUN_VIEW.read({ items: [] }, {})).toBeUndefined();
    expect(RUN_VIEW.read({ id: 7 }, {})).toBeUndefined();
  });

  it("is final once the run has ended and its steps are known, and follows a run that starts another one", () => {
    const ended = { ...RUN, status: "failed" as const };
    expect(RUN_VIEW.isFinal(RUN)).toBe(false);
    expect(RUN_VIEW.isFinal({ id: "run_1", status: "failed" })).toBe(false);
    expect(RUN_VIEW.isFinal(ended)).toBe(true);
    expect(RUN_VIEW.isFinal({ ...ended, on_failure: { workflow_id: "tell" } })).toBe(false);
    expect(RUN_VIEW.isFinal({ ...ended, on_failure: { workflow_id: "tell", run_id: "run_2" } })).toBe(true);
  });

  it("refreshes with get_run", async () => {
    const calls: unknown[] = [];
    await RUN_VIEW.load(RUN, async (...call) => {
      calls.push(call);
      return { ...RUN };
    });
    expect(calls).toEqual([["get_run", { run_id: "run_1", detail: "steps" }]]);
  });
});

describe("the nodes of a run (runNodes)", () => {
  it("place bars on the axis of the run, in percent", () => {
    const segments = everyElement(runNodes(RUN, NOW)).filter(({ properties }) =>
      properties.class?.startsWith("segment"),
    );
    expect(segments.map(({ properties }) => properties)).toEqual([
      { class: "segment running green", left: 0, width: 25 },
      { class: "segment running blue", left: 50, width: 50 },
    ]);
  });

  it("say for readers of the screen what the bars show, and hide these from them", () => {
    const nodes = runNodes(RUN, NOW);
    expect(textsOf(nodes, "unseen")).toEqual([
      "first, set, succeeded, 5.0 s, started immediately",
      "second, set, running, 10.0 s so far, started after 10 s",
    ]);
    const rows = everyElement(nodes).filter(({ tag }) => tag === "li");
    const shown = rows.flatMap(({ children }) => everyElement(children.slice(1, 4)).slice(0, 1));
    expect(shown.map(({ properties }) => properties.hidden)).toEqual([true, true]);
  });

  it("begin with why the run failed, and repeat that error at no step", () => {
    const error = { code: "http_status", message: "POST answered 503.", step_id: "send" };
    const nodes = runNodes(
      {
        ...RUN,
        status: "failed",
        error,
        failed_step: { id: "send", type: "http", attempts: 4, input: { url: "https://example.com" } },
        steps: [
          step("send", { status: "failed", error }),
          step("other", { status: "failed", error: { code: "x", message: "Went on. Second sentence." } }),
        ],
      },
      NOW,
    );
    const section = everyElement(nodes).find(({ tag }) => tag === "section");
    expect(section!.properties.class).toBe("failure");
    expect(textsOf(nodes, "failure")[0]).toContain("send failed after 4 attempts: POST answered 503.");
    expect(textsOf(nodes, "failure")[0]).toContain("https://example.com");
    expect(textsOf(nodes, "error")).toEqual(["Went on."]);
  });

  it("lead to the approval that the run waits for, and to its own page", () => {
    const approvals = [{ id: "apr_1", step_id: "ask", message: "Pay?" }];
    expect(buttonsOf(runNodes({ ...RUN, approvals }, NOW))).toEqual([
      ["Decide in Millrace", { open: "/approvals/apr_1" }],
      ["Open in Millrace", { open: "/runs/run_1" }],
    ]);
    expect(buttonsOf(runNodes({ id: "run_/../x?y#z" }, NOW))).toEqual([
      ["Open in Millrace", { open: "/runs/run_%2F..%2Fx%3Fy%23z" }],
    ]);
  });

  it("show a run of which only the id is known", () => {
    expect(textsOf(runNodes({ id: "run_1" }, NOW), "dim")).toEqual(["run_1"]);
  });

  it("show at most 200 steps, and say how many more there are", () => {
    const steps = Array.from({ length: 205 }, (_, index) => step(`s${index}`));
    const nodes = runNodes({ ...RUN, steps }, NOW);
    expect(textsOf(nodes, "unseen")).toHaveLength(200);
    expect(textsOf(nodes, "dim")).toContain("5 more steps in Millrace.");
  });
});
