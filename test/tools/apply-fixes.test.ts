/** The option apply_fixes of the operations that take a definition. */
import { describe, expect, it } from "vitest";
import { apiClient } from "../support/http.ts";
import { testInstance } from "../support/instance.ts";

async function opened() {
  const instance = await testInstance();
  const rest = await instance.rest();
  const { value } = await instance.key({ scopes: ["read", "write", "run"] });
  return apiClient(rest.url, value);
}

const BROKEN = {
  steps: [
    { id: "n", type: "set", values: { n: 1 } },
    { id: "big", type: "assert", when: "steps.n.n > 0", that: "steps.n.n === 1", retries: 3 },
  ],
};
const FIXED = {
  steps: [
    { id: "n", type: "set", values: { n: 1 } },
    { id: "big", type: "assert", if: "steps.n.n > 0", that: "steps.n.n == 1", retry: { attempts: 4 } },
  ],
};
const APPLIED = [
  { path: "steps[1].when", patch: [{ op: "move", from: "/steps/1/when", path: "/steps/1/if" }] },
  { path: "steps[1].that", patch: [{ op: "replace", path: "/steps/1/that", value: "steps.n.n == 1" }] },
  {
    path: "steps[1].retries",
    patch: [
      { op: "remove", path: "/steps/1/retries" },
      { op: "add", path: "/steps/1/retry", value: { attempts: 4 } },
    ],
  },
];

describe("apply_fixes", () => {
  it("returns the fixed definition, what was applied and what remains, and saves nothing while validating", async () => {
    const call = await opened();
    const { body } = await call("POST", "/workflows/validate", {
      definition: { ...BROKEN, output: "${{ steps.nowhere.n }}" },
      apply_fixes: true,
    });
    expect(body).toMatchObject({
      valid: false,
      errors: [{ path: "output", code: "unknown_step", fix: "Write one of n, big." }],
      definition: { ...FIXED, output: "${{ steps.nowhere.n }}" },
      applied_fixes: APPLIED,
    });
    expect((await call("GET", "/workflows")).body).toEqual([]);
  });

  it("takes YAML text and returns an object", async () => {
    const call = await opened();
    const definition = "steps:\n  - id: n\n    type: set\n    valeus: { n: 1 } # one\n";
    const { body } = await call("POST", "/workflows/validate", { definition, apply_fixes: true });
    expect(body).toMatchObject({
      valid: true,
      definition: { steps: [{ id: "n", type: "set", values: { n: 1 } }] },
      applied_fixes: [{ path: "steps[0].valeus" }],
    });
  });

  it("returns the warnings of values of the text that may have been meant as text", async () => {
    const call = await opened();
    const definition = "steps:\n  - { id: n, type: set, when: 'true', values: { zip: 01067 } }\n";
    const warnings = [{ path: "steps[0].values.zip", code: "unquoted" }];
    const body = { definition, apply_fixes: true };
    expect((await call("POST", "/workflows/validate", body)).body).toMatchObject({ valid: true, warnings });
    const created = await call("POST", "/workflows", { name: "Zip", ...body });
    expect(created.body).toMatchObject({
      definition: { steps: [{ id: "n", type: "set", if: "true", values: { zip: 1067 } }] },
      warnings,
    });
  });

  it("changes nothing unless it is asked for, and then names each patch", async () => {
    const call = await opened();
    const { body } = await call("POST", "/workflows/validate", { definition: BROKEN });
    expect(body).toMatchObject({ valid: false, errors: APPLIED });
    expect(body).not.toHaveProperty("definition");
    expect(body).not.toHaveProperty("applied_fixes");
  });

  it("saves the fixed definition when a workflow is created or updated", async () => {
    const call = await opened();
    const created = await call("POST", "/workflows", {
      name: "Numbers",
      definition: BROKEN,
      apply_fixes: true,
    });
    expect(created.body).toMatchObject({ definition: FIXED, issues: [], applied_fixes: APPLIED });
    const patch = [{ op: "update_step", id: "n", set: { vals: { n: 2 } }, unset: ["values"] }];
    const updated = await call("PATCH", "/workflows/numbers", { patch, apply_fixes: true });
    expect(updated.body).toMatchObject({
      version: 2,
      definition: { steps: [{ id: "n", type: "set", values: { n: 2 } }, FIXED.steps[1]] },
      applied_fixes: [{ path: "steps[0].vals" }],
    });
  });

  it("fixes the stored definition if an update has none", async () => {
    const call = await opened();
    await call("POST", "/workflows", { name: "Numbers", definition: BROKEN });
    const { body } = await call("PATCH", "/workflows/numbers", { apply_fixes: true });
    expect(body).toMatchObject({ version: 2, definition: FIXED, issues: [], applied_fixes: APPLIED });
  });
});
