import { describe, expect, it } from "vitest";
import { exampleEnvironment } from "../../support/example-environment.ts";

const busy = { status: 503 };

describe("everyday work with models", () => {
  it("asks the second model only when the first one fails", async () => {
    let isUp = true;
    const environment = await exampleEnvironment({
      model: ({ model }) => (model === "backup" || isUp ? `from ${model}` : busy),
    });
    const id = await environment.publish("model-fallback");
    expect((await environment.run(id)).output).toEqual({ answer: "from writer", answered_by: "writer" });
    isUp = false;
    expect((await environment.run(id)).output).toEqual({ answer: "from backup", answered_by: "backup" });
    expect(environment.prompts.map(({ model }) => model)).toEqual(["writer", "writer", "writer", "backup"]);
  });

  it("lets a judge choose between two texts", async () => {
    const environment = await exampleEnvironment({
      model: ({ model, prompt }) => {
        if (model === "judge") return JSON.stringify({ best: "b", reason: "It has an example." });
        return prompt.includes("warmly") ? "a warm text" : "a short text";
      },
    });
    const { output } = await environment.run(await environment.publish("two-prompts-and-a-judge"));
    expect(output).toEqual({ text: "a warm text", reason: "It has an example." });
    expect(environment.prompts.at(-1)!.prompt).toContain("Text a: a short text\nText b: a warm text");
  });

  it("extracts facts from 200 texts, and counts those that fail", async () => {
    const environment = await exampleEnvironment({
      model: ({ prompt }) => {
        const number = Number(/text (\d+)/.exec(prompt)![1]);
        // Not temporary: the request itself is refused.
        if (number % 50 === 0) return { status: 400 };
        return JSON.stringify({ product: `product ${number}`, content: number % 2 === 0 });
      },
    });
    const texts = Array.from({ length: 200 }, (_, index) => `This is text ${index}.`);
    const run = await environment.run(await environment.publish("extract-from-texts"), { texts });
    const { facts, failed } = run.output as { facts: { product: string }[]; failed: number };
    expect({ status: run.status, failed, count: facts.length }).toEqual({
      status: "succeeded",
      failed: 4,
      count: 196,
    });
    expect(facts[0]).toEqual({ product: "product 1", content: false });
  });
});
