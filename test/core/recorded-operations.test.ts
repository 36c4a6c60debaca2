import { describe, expect, it } from "vitest";
import {
  RECORDED_OF_RUNS,
  RECORDED_OPERATIONS,
  recordedOperation,
} from "../../src/core/recorded-operations.ts";

describe("recordedOperation", () => {
  it("finds an operation by its name, with the words of an outcome or without", () => {
    expect(recordedOperation("update_user")).toBe(RECORDED_OPERATIONS.update_user);
    expect(recordedOperation("update_user.some_outcome")).toBe(RECORDED_OPERATIONS.update_user);
    for (const name of Object.keys(RECORDED_OPERATIONS) as (keyof typeof RECORDED_OPERATIONS)[])
      expect(recordedOperation(name)).toBe(RECORDED_OPERATIONS[name]);
  });

  it("finds what runs leave in the audit log", () => {
    expect(recordedOperation("use_secret")).toBe(RECORDED_OF_RUNS.use_secret);
    expect(recordedOperation("escalate_approval")).toBe(RECORDED_OF_RUNS.escalate_approval);
  });

  it("calls an answered read of values a read, of any operation", () => {
    expect(recordedOperation("get_run.read").label).toBe("read values of runs");
    expect(recordedOperation("update_user.read").label).toBe("read values of runs");
  });

  it("says so where this release does not have the operation", () => {
    expect(recordedOperation("fly")).toEqual({
      label: "used fly, which this release does not have",
      revert: null,
      remains: "The audit log has its entries (list_audit_log). Look at what it changed.",
    });
  });
});
