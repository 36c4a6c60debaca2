import { describe, expect, it } from "vitest";
import { definitionSchema } from "../../src/engine/definition/definition-schema.ts";
import { stepTypes } from "../../src/steps/index.ts";
import { EXAMPLE_DEFINITION, getGuide, TOPICS } from "../../tools/environment/guide.ts";
import { testInstance } from "../support/instance.ts";
import { callOf } from "../support/call-context.ts";

const topics = [...TOPICS, ...stepTypes.map(({ type }) => type)];

describe("the guide", () => {
  it.each(topics)("to %s covers everything in at most a few thousand tokens", (topic) => {
    const guide = getGuide(topic, stepTypes)!;
    expect(guide).not.toMatch(/undefined|\[object|NaN/);
    expect(guide.length / 4).toBeLessThan(topic === "definition" ? 5_000 : 2_000);
  });

  it("names every step type and every field of each", () => {
    const whole = getGuide("definition", stepTypes)!;
    for (const { type, fields } of stepTypes) {
      expect(whole).toContain(`- \`${type}\`: `);
      for (const field of Object.keys(fields as object))
        expect(getGuide(type, stepTypes)).toContain(`- \`${field}\` (`);
    }
  });

  it("contains an example without issues", async () => {
    definitionSchema(stepTypes).parse(EXAMPLE_DEFINITION);
    const { services } = await testInstance();
    const { errors } = await services.engine.check(EXAMPLE_DEFINITION, {
      checkConnections: true,
      ...callOf(AbortSignal.timeout(10_000)),
    });
    expect(errors).toEqual([]);
  });
});
