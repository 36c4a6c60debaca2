import { describe, expect, it } from "vitest";
import { createMasker } from "../../../src/connections/masking.ts";
import { createModels } from "../../../src/connections/models/index.ts";
import { fixedSecrets } from "../../../src/core/secret-source.ts";
import { StepError } from "../../../src/core/step-errors.ts";
import { callOf } from "../../support/call-context.ts";
import { stepErrorOf } from "../../support/mock-http-server.ts";
import { MODEL_KEY, MODEL_NOW, mockModelServer, modelConfig } from "../../support/mock-model-server.ts";

/** Calls a model, and throws the error once while its answer is read. */
async function generateWith(error: Error, outputSchema?: { type: string }) {
  const errors = [error];
  const mask = {
    ...createMasker([]),
    text: (text: string): string => {
      const next = errors.pop();
      if (next !== undefined) throw next;
      return text;
    },
  };
  const config = modelConfig("openai", await mockModelServer("openai", { text: "Hello." }));
  const models = createModels(config, fixedSecrets({ MODEL_KEY }), { now: () => MODEL_NOW, mask });
  return models.generate(
    { model: "writer", prompt: "Say hello.", outputSchema },
    callOf(new AbortController().signal),
  );
}

describe("an error of reading an answer", () => {
  const defect = new Error("a defect");

  it.each([undefined, { type: "object" }])("is not one of the vendor with the schema %j", async (schema) => {
    await expect(generateWith(defect, schema)).rejects.toBe(defect);
  });

  it("counts the tokens of the answer", async () => {
    const slow = new StepError("model_invalid_output", "Too slow.", { transient: false });
    const error = await stepErrorOf(generateWith(slow, { type: "object" }));
    expect(error).toMatchObject({
      message: "Too slow.",
      transient: false,
      options: { usage: { input_tokens: 100, output_tokens: 20 } },
    });
  });
});
