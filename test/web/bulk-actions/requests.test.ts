import { describe, expect, it } from "vitest";
import { ApiError } from "../../../src/web/api/client.ts";
import type { BulkChoice, ChosenRuns } from "../../../src/web/bulk-actions/choice.ts";
import {
  ambiguousProjects,
  previewRequest,
  readConcurrency,
  startBody,
} from "../../../src/web/bulk-actions/requests.ts";

const choice = (runs: ChosenRuns, action: BulkChoice["action"] = "retry"): BulkChoice => ({
  action,
  runs,
  description: "",
});
const NOTHING = { project: undefined, version: undefined, workflow: undefined };

describe("previewRequest", () => {
  it("asks for the chosen runs, without a digest", () => {
    expect(previewRequest(choice({ status: ["failed"] }), NOTHING)).toEqual({
      action: "retry",
      status: ["failed"],
    });
  });

  it("names the workflow of a version, because the API asks for it with a filter", () => {
    const version = { ...NOTHING, version: 3, workflow: "pay" };
    expect(previewRequest(choice({ status: ["failed"] }), version)).toEqual({
      action: "retry",
      status: ["failed"],
      version: 3,
      workflow_id: "pay",
    });
  });

  it("names no workflow beside named runs, which the API refuses", () => {
    const version = { ...NOTHING, version: 3, workflow: "pay" };
    expect(previewRequest(choice({ run_ids: ["run_1"] }), version)).toEqual({
      action: "retry",
      run_ids: ["run_1"],
      version: 3,
    });
  });

  it("takes the project that was chosen where the runs are of several", () => {
    expect(previewRequest(choice({ status: ["failed"] }), { ...NOTHING, project: "finance" })).toMatchObject({
      project: "finance",
    });
  });
});

describe("readConcurrency", () => {
  it("reads the numbers that the API accepts", () => {
    expect([1, 20, "7", " 20 "].map(readConcurrency)).toEqual([1, 20, 7, 20]);
  });

  it("reads nothing else as a number", () => {
    for (const typed of ["", " ", 0, "0", 21, 50, "-1", "1.5", 1.5, "1e1", "five", "-"])
      expect({ typed, read: readConcurrency(typed) }).toEqual({ typed, read: undefined });
  });
});

describe("startBody", () => {
  const fields = { rate: "", concurrency: 5, reason: "" };

  it("is the request of the preview with its digest", () => {
    expect(startBody({ action: "retry", run_ids: ["run_1"] }, "d1", fields)).toEqual({
      action: "retry",
      run_ids: ["run_1"],
      concurrency: 5,
      digest: "d1",
    });
  });

  it("has a rate and a reason only where they are given, without white space around them", () => {
    const given = { rate: " 60/m ", concurrency: 1, reason: " Down. " };
    expect(startBody({ action: "retry", status: ["failed"] }, "d1", given)).toMatchObject({
      rate: "60/m",
      concurrency: 1,
      reason: "Down.",
    });
    expect(startBody({ action: "retry" }, "d1", { ...given, reason: "  " })).not.toHaveProperty("reason");
  });

  it("has no concurrency to cancel runs, which starts none", () => {
    expect(startBody({ action: "cancel", status: ["running"] }, "d1", fields)).not.toHaveProperty(
      "concurrency",
    );
  });
});

const error = (path: string) =>
  new ApiError({
    type: "about:blank",
    title: "Invalid input",
    status: 422,
    detail: "project must be given",
    code: "invalid_input",
    request_id: "",
    errors: [{ path, code: "ambiguous", message: "must be given", allowed: ["default", "finance"] }],
  });

describe("ambiguousProjects", () => {
  it("reads the projects of which one has to be chosen", () => {
    expect(ambiguousProjects(error("project"))).toEqual(["default", "finance"]);
  });

  it("reads none of another error", () => {
    expect(ambiguousProjects(error("workflow_id"))).toEqual([]);
    expect(ambiguousProjects(new Error("lost"))).toEqual([]);
    expect(ambiguousProjects(null)).toEqual([]);
  });
});
