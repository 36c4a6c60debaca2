import { describe, expect, it } from "vitest";
import { assertMayRunUnsaved } from "../../src/core/unsaved-runs.ts";
import { keyWith, personWith, rolesIn, thrownBy } from "../support/callers.ts";

describe("assertMayRunUnsaved", () => {
  const viewer = personWith(rolesIn("viewer", { finance: "editor" }));

  it("lets a caller with the scope write in the project run what is not saved", () => {
    expect(assertMayRunUnsaved(viewer, "finance", "step")).toBeUndefined();
    const key = keyWith(null, ["write"], { projects: ["finance"] });
    expect(assertMayRunUnsaved(key, "finance", "definition")).toBeUndefined();
  });

  it.each([
    ["step", "A run of a single step, which is not saved,", "Run a workflow instead (run_workflow)."],
    [
      "definition",
      "A run of a changed definition, which is not saved,",
      "Name a version to run a saved one.",
    ],
    [
      "given",
      "A run with given outputs, which are not those of the saved workflow,",
      "Run it without given.",
    ],
  ] as const)("refuses a %s without the scope write in the project", (unsaved, subject, instead) => {
    const error = thrownBy(() => assertMayRunUnsaved(viewer, "default", unsaved));
    expect(error).toMatchObject({
      code: "missing_scope",
      details: { errors: [{ code: "missing_scope", allowed: ["write"] }] },
    });
    expect(String(error)).toContain(`${subject} needs the scope "write" in the project "default"`);
    expect(String(error)).toContain(`${instead} Ask an admin`);
    expect(() => assertMayRunUnsaved(keyWith(null, ["run"]), "default", unsaved)).toThrow(instead);
  });
});
