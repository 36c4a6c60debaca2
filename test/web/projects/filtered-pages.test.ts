import { describe, expect, it } from "vitest";
import {
  addressAfterChoice,
  lacksProject,
  projectInAddress,
  withProject,
} from "../../../src/web/projects/filtered-pages.ts";

describe("the project in the address of a list", () => {
  it("is an id, all projects, or missing", () => {
    expect(projectInAddress("/runs", "?project=finance&status=failed")).toBe("finance");
    expect(projectInAddress("/runs", "?project=*")).toBe("*");
    expect(projectInAddress("/runs", "?status=failed")).toBeNull();
    expect(lacksProject("/runs", "?status=failed")).toBe(true);
    expect(lacksProject("/runs", "?project=*")).toBe(false);
  });

  it("is not read from and not added to other pages", () => {
    expect(projectInAddress("/runs/run_1", "?project=finance")).toBeNull();
    expect(lacksProject("/runs/run_1", "")).toBe(false);
    expect(lacksProject("/keys", "")).toBe(false);
  });

  it("is added beside the filters, in place of another one", () => {
    expect(withProject("?status=failed", "finance")).toBe("?status=failed&project=finance");
    expect(withProject("?project=finance", undefined)).toBe("?project=*");
  });
});

describe("the address after the choice of a project", () => {
  it("keeps the filters of a list, except those that name something of one project", () => {
    expect(addressAfterChoice("/runs", "?status=failed&workflow=a&project=ops", "finance")).toBe(
      "/runs?status=failed&project=finance",
    );
    expect(addressAfterChoice("/", "", undefined)).toBe("/?project=*");
  });

  it("is the list of what the page shows one of", () => {
    expect(addressAfterChoice("/runs/run_1", "?step=a", "finance")).toBe("/runs?project=finance");
    expect(addressAfterChoice("/bulk-actions/bulk_1", "?result=skipped", "finance")).toBe(
      "/bulk-actions?project=finance",
    );
    expect(addressAfterChoice("/workflows/a/edit", "", undefined)).toBe("/workflows?project=*");
  });

  it("stays on a page that shows nothing of a project, and where a new workflow is described", () => {
    expect(addressAfterChoice("/keys", "", "finance")).toBeUndefined();
    expect(addressAfterChoice("/people", "?search=a", "finance")).toBeUndefined();
    expect(addressAfterChoice("/workflows/new", "", "finance")).toBeUndefined();
  });
});
