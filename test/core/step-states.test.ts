import { describe, expect, it } from "vitest";
import { hasStepEnded, StepStates, toStepStatus } from "../../src/core/step-states.ts";

describe("step states", () => {
  const states = new StepStates(["succeeded", "queued", "pending", "pending"]);

  it("return a new value for each change", () => {
    expect(states.with(1, "failed").list).toEqual(["succeeded", "failed", "pending", "pending"]);
    expect(states.replaceAll(["pending", "waiting"], "cancelled").list).toEqual([
      "succeeded",
      "queued",
      "cancelled",
      "cancelled",
    ]);
    expect(states.list).toEqual(["succeeded", "queued", "pending", "pending"]);
  });

  it("find steps by their state", () => {
    expect(states.at(1)).toBe("queued");
    expect(states.positionsOf("pending")).toEqual([2, 3]);
    expect(states.includes("running", "queued")).toBe(true);
    expect(states.includes("running", "waiting")).toBe(false);
    expect(StepStates.allPending(2).list).toEqual(["pending", "pending"]);
  });

  it("tell a failure that ends the run from one that does not", () => {
    expect(states.with(0, "failed_continued").anyFailed()).toBe(false);
    expect(states.with(0, "failed").anyFailed()).toBe(true);
  });

  it("have a status for the API, and an end", () => {
    expect([toStepStatus("queued"), toStepStatus("failed_continued")]).toEqual(["running", "failed"]);
    expect([hasStepEnded("skipped"), hasStepEnded("waiting")]).toEqual([true, false]);
  });
});
