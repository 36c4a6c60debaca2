import { describe, expect, it } from "vitest";
import { createModels } from "../../src/connections/models/index.ts";
import { fixedSecrets } from "../../src/core/secret-source.ts";
import { modelStep } from "../../src/steps/model.ts";
import { stepErrorOf } from "../support/mock-http-server.ts";
import { modelConfig, mockModelServer } from "../support/mock-model-server.ts";
import { checkStep, runStep } from "../support/step-check.ts";

const worldOf = (peer: { url: string }, env: Record<string, string> = { MODEL_KEY: "k" }) => ({
  connections: {
    models: createModels(modelConfig("openai-compatible", peer), fixedSecrets(env), { now: () => 0 }),
  },
});
const nowhere = { url: "http://127.0.0.1:1" };
const schema = { type: "object", properties: { mood: { type: "string" } }, required: ["mood"] };

describe("a model step", () => {
  it("returns text, usage and the finish reason", async () => {
    const peer = await mockModelServer("openai-compatible", { text: "Hello." });
    const usage = { input_tokens: 100, output_tokens: 20, cost: 0.0006 };
    expect(
      await runStep(
        modelStep,
        { model: "writer", prompt: "Hi", max_output_tokens: 5, temperature: 0 },
        worldOf(peer),
      ),
    ).toEqual({ kind: "done", output: { text: "Hello.", usage, finish_reason: "stop" }, usage });
    expect(JSON.parse(peer.received[0]!.body)).toMatchObject({ model: "m-1", max_tokens: 5, temperature: 0 });
  });

  it("returns an object instead of text if it has a schema", async () => {
    const peer = await mockModelServer("openai-compatible", { text: '{"mood":"good"}' });
    const written = { model: "writer", prompt: "Hi", system: "Short.", output_schema: schema };
    const outcome = await runStep(modelStep, written, worldOf(peer));
    expect(outcome).toMatchObject({ output: { object: { mood: "good" } } });
    expect(outcome).not.toHaveProperty("output.text");
  });

  it("fails with the error of the connection", async () => {
    const work = runStep(modelStep, { model: "writer", prompt: "Hi" }, worldOf(nowhere, {}));
    expect((await stepErrorOf(work)).code).toBe("environment");
  });

  it("uses the resource of its model and has no effects", () => {
    const step = { id: "a", type: "model", model: "writer" };
    expect(modelStep.resource(step, { defaultDatabase: null })).toBe("model:writer");
    expect(modelStep.hasEffects(step)).toBe(false);
  });
});

const check = (written: object, env?: Record<string, string>) =>
  checkStep(modelStep, written, worldOf(nowhere, env));

describe("the check of a model step", () => {
  it("accepts a valid step and returns the shape of the answer", async () => {
    expect(await check({ model: "writer", prompt: "x" })).toMatchObject({
      issues: [],
      output: { fields: { text: { kind: "string" }, finish_reason: { kind: "string" } } },
    });
    const { issues, output } = await check({ model: "writer", prompt: "x", output_schema: schema });
    expect(issues).toEqual([]);
    expect(output).toMatchObject({
      fields: { object: { kind: "object", fields: { mood: { kind: "string" } } } },
    });
    expect(output).not.toHaveProperty("fields.text");
  });

  it("reports an unknown model with a near match, and a model without a key", async () => {
    expect((await check({ model: "writr", prompt: "x" })).issues).toMatchObject([
      { path: ["model"], code: "unknown_model", did_you_mean: "writer", allowed: ["writer"] },
    ]);
    expect((await check({ model: "writer", prompt: "x" }, {})).issues).toMatchObject([
      { path: ["model"], code: "environment", message: expect.stringContaining("MODEL_KEY") },
    ]);
  });

  it("reports an invalid schema", async () => {
    const { issues } = await check({
      model: "writer",
      prompt: "x",
      output_schema: { type: "object", properties: { a: { type: "objekt" } } },
    });
    expect(issues).toMatchObject([{ path: ["output_schema", "properties", "a", "type"] }]);
  });
});
