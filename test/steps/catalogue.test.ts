import { describe, expect, test } from "vitest";
import { z } from "zod";
import { COMMON_STEP_FIELDS } from "../../schemas/workflow-definition.ts";
import type { Field } from "../../src/core/step-type.ts";
import { stepTypes } from "../../src/steps/index.ts";

describe("the step types", () => {
  test("are sorted and have unique names", () => {
    const names = stepTypes.map(({ type }) => type);
    expect(names).toEqual([...new Set(names)].toSorted());
  });

  test.each(stepTypes.map((it) => [it.type, it] as const))(
    "%s explains every field, with an example",
    (_, type) => {
      for (const [name, field] of Object.entries<Field>(type.fields)) {
        const { description, example } = z.toJSONSchema(field.schema, {
          io: "input",
          unrepresentable: "any",
        });
        expect.soft([name, typeof description, example === undefined]).toEqual([name, "string", false]);
        expect.soft(Object.keys(COMMON_STEP_FIELDS)).not.toContain(name);
      }
      const { id, type: word, ...written } = type.example;
      expect(id).toMatch(/^[a-z][a-z0-9_]*$/);
      expect(word).toBe(type.type);
      const known = new Set([...Object.keys(type.fields), ...Object.keys(COMMON_STEP_FIELDS)]);
      expect(Object.keys(written).filter((name) => !known.has(name))).toEqual([]);
    },
  );
});
