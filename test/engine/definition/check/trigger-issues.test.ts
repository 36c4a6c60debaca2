import { describe, expect, it } from "vitest";
import { fixedSecrets } from "../../../../src/core/secret-source.ts";
import { Config } from "../../../../schemas/config.ts";
import { createConnections } from "../../../../src/connections/index.ts";
import { checker } from "../../../../src/engine/definition/check/index.ts";
import { stepTypes } from "../../../../src/steps/index.ts";

const config = Config.parse({ secrets: [{ name: "github-hook", key_var: "HOOK", hosts: [] }] });
const connections = createConnections(config, fixedSecrets({ HOOK: "s" }), {
  stateDir: "/nowhere",
  version: "1",
  now: () => 0,
});
const check = checker({
  stepTypes,
  connections,
  workflows: { find: () => Promise.resolve(undefined), ids: () => Promise.resolve([]) },
}).check;

const PAYLOAD = {
  type: "object",
  properties: { ref: { type: "string" }, count: { type: "integer" } },
  required: ["ref", "count"],
};
const BASE = {
  id: "pushed",
  type: "webhook",
  signature: { scheme: "github", secret: "github-hook" },
  payload: PAYLOAD,
  inputs: { ref: "${{ event.body.ref }}" },
};
const definition = (...triggers: object[]) => ({
  inputs: { type: "object", properties: { ref: { type: "string" } }, required: ["ref"] },
  triggers,
  steps: [{ id: "kept", type: "set", values: { ref: "${{ inputs.ref }}" } }],
});
const issuesOf = async (trigger: object) => {
  const { errors, warnings } = await check(definition({ ...BASE, ...trigger }), { checkConnections: true });
  return { errors: errors.map(({ path, code }) => `${path} ${code}`), warnings, all: errors };
};

describe("triggers", () => {
  it("are accepted with a signature and inputs from the payload", async () => {
    const { errors, warnings } = await issuesOf({
      if: 'event.headers["x-github-event"] == "push" && event.body.count > 0',
      deduplicate: "event.body.ref",
    });
    expect({ errors, warnings }).toEqual({ errors: [], warnings: [] });
    const combined = await issuesOf({
      deduplicate: 'event.body.ref + "@" + (event.headers["x-github-delivery"] ?? string(event.body.count))',
    });
    expect(combined.errors).toEqual([]);
  });

  it.each([
    [
      "a wrong path in inputs",
      { inputs: { ref: "${{ event.body.reff }}" } },
      "triggers[0].inputs.ref unknown_field",
    ],
    ["a wrong path in if", { if: "event.body.reff == 'x'" }, "triggers[0].if unknown_field"],
    ["a condition that is none", { if: "event.body.ref" }, "triggers[0].if wrong_type"],
    [
      "an input of another type",
      { inputs: { ref: "${{ event.body.count }}" } },
      "triggers[0].inputs.ref wrong_type",
    ],
    ["a missing input", { inputs: {} }, "triggers[0].inputs.ref missing"],
    ["an unknown input", { inputs: { ref: "x", other: 1 } }, "triggers[0].inputs.other unknown_key"],
    ["a step that is read", { if: "steps.kept.ref == 'x'" }, "triggers[0].if unknown_step"],
    ["a payload that is no schema", { payload: { type: "objekt" } }, "triggers[0].payload.type not_allowed"],
    ["a sample beside a payload", { sample: { body: {} } }, "triggers[0].sample not_allowed"],
    [
      "deduplicate that gives an object",
      { deduplicate: "{'ref': event.body.ref}" },
      "triggers[0].deduplicate wrong_type",
    ],
    [
      "deduplicate of the time, which no repetition has in common with the first",
      { deduplicate: "event.received_at" },
      "triggers[0].deduplicate unknown_field",
    ],
    [
      "deduplicate that reads inputs",
      { deduplicate: "inputs.ref + event.body.ref" },
      "triggers[0].deduplicate unknown_field",
    ],
    [
      "deduplicate of a field that is missing",
      { deduplicate: "event.body.id" },
      "triggers[0].deduplicate unknown_field",
    ],
    [
      "a secret that does not exist",
      { signature: { scheme: "github", secret: "github-hok" } },
      "triggers[0].signature.secret unknown_signature_secret",
    ],
    [
      "a header that the scheme does not have",
      { signature: { scheme: "github", secret: "github-hook", header: "X-Y" } },
      "triggers[0].signature.header not_allowed",
    ],
  ])("report %s", async (_what, trigger, issue) => {
    expect((await issuesOf(trigger)).errors).toEqual([issue]);
  });

  it("suggest what is meant, also by a recorded sample", async () => {
    const sample = { body: { repository: { full_name: "a/b" }, ref: "main" } };
    const { all } = await issuesOf({
      payload: undefined,
      sample,
      inputs: { ref: "${{ event.body.repository.fullname }}" },
    });
    expect(all).toMatchObject([{ did_you_mean: "full_name", fix: "Write full_name." }]);
    const named = await issuesOf({ inputs: { ref: "${{ body.ref }}" } });
    expect(named.all).toMatchObject([{ code: "unknown_name", did_you_mean: "event.body" }]);
  });

  it("warn of what is not signed, and of what can't be recognized again", async () => {
    const { errors, warnings } = await issuesOf({ signature: undefined });
    expect(errors).toEqual([]);
    expect(warnings.map(({ code }) => code)).toEqual(["unsigned_trigger", "no_delivery_id"]);
  });

  it("have ids of their own", async () => {
    const { errors } = await check(definition(BASE, BASE), { checkConnections: false });
    expect(errors).toMatchObject([{ path: "triggers[1].id", code: "duplicate" }]);
  });

  it("are the only place with event", async () => {
    const { errors } = await check(
      { ...definition(), steps: [{ id: "kept", type: "set", values: { x: "${{ event.body.x }}" } }] },
      { checkConnections: false },
    );
    expect(errors).toMatchObject([
      { code: "unknown_name", fix: expect.stringContaining("triggers") as string },
    ]);
  });
});
