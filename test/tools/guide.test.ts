import { describe, expect, it } from "vitest";
import { definitionSchema } from "../../src/engine/definition/definition-schema.ts";
import { stepTypes } from "../../src/steps/index.ts";
import { EXAMPLE_DEFINITION, getGuide, TOPICS, WORDS } from "../../tools/environment/guide.ts";
import { describeEnvironment } from "../../tools/environment/describe-environment.ts";
import { OPERATOR_ACTOR } from "../../src/commands/operator.ts";
import { invoke } from "../../src/surfaces/invoke.ts";
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

  it.each(WORDS)("to %s alone is short", (word) => {
    const guide = getGuide(word, stepTypes)!;
    expect(guide).toContain(`\`${word}\``);
    expect(guide).not.toMatch(/undefined|\[object|NaN/);
    expect(guide.length).toBeLessThan(2_000);
  });

  it("to several fields, functions and step types is one answer", async () => {
    const { services } = await testInstance();
    const ask = (topic: string) =>
      invoke(
        services,
        describeEnvironment,
        { topic },
        {
          actor: OPERATOR_ACTOR,
          requestId: "req_1",
          signal: new AbortController().signal,
        },
      ) as Promise<{ guide: string; warnings?: object[] }>;
    const { guide } = await ask("repeat, timeout,sort_by , assert");
    expect(guide).toContain("Of a step: - `repeat`");
    expect(guide).toContain("  - `until`");
    // A name that is a field of steps and one beside them.
    expect(guide).toMatch(/Of a step: - `timeout`.*\nBeside steps: - `timeout`/);
    expect(guide).toContain("- `sort_by`: ");
    expect(guide).toContain("# Step type assert");
    expect(guide.length).toBeLessThan(4_000);
    // An unknown topic beside others costs nothing but a warning; alone it is refused.
    const unknown = {
      path: "topic",
      message: expect.stringContaining('has "forech"'),
      allowed: expect.arrayContaining(["expressions", "http"]),
      did_you_mean: "for_each",
    };
    const partly = await ask("assert, forech");
    expect(partly).toEqual({
      guide: getGuide("assert", stepTypes),
      warnings: [expect.objectContaining(unknown)],
    });
    expect(await ask("assert")).not.toHaveProperty("warnings");
    await expect(ask("forech")).rejects.toMatchObject({ details: { errors: [unknown] } });
    await expect(ask("constructor")).rejects.toMatchObject({ code: "invalid_input" });
  });

  it("answers fields of step types, and says once how CSV and forms are read", async () => {
    const { services } = await testInstance();
    const call = { actor: OPERATOR_ACTOR, requestId: "req_1", signal: new AbortController().signal };
    const ask = async (topic: string) =>
      ((await invoke(services, describeEnvironment, { topic }, call)) as { guide: string }).guide;
    const guide = await ask("csv, parse, charset, parse_csv");
    for (const part of [
      "Of a step of type http: - `charset`",
      "- `ragged`: ",
      'With `{"header": false}`',
      "`sep=;`",
    ])
      expect(guide.split(part)).toHaveLength(2);
    expect(await ask("forms")).toContain("a repeated one is the list of its values");
    expect(await ask("max_rows")).toContain("Of a step of type sql: - `max_rows`");
  });

  it("contains an example without issues", async () => {
    definitionSchema(stepTypes).parse(EXAMPLE_DEFINITION);
    const { services } = await testInstance();
    const { errors } = await services.engine.check(EXAMPLE_DEFINITION, {
      checkConnections: true,
      project: "default",
      ...callOf(),
    });
    expect(errors).toEqual([]);
  });
});
