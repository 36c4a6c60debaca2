import { describe, expect, it } from "vitest";
import { z } from "zod";
import { RUN_FIELDS } from "../../src/engine/definition/check/step-shapes.ts";
import { FUNCTIONS } from "../../src/engine/definition/expressions/functions.ts";
import { LOOPS } from "../../src/engine/definition/expressions/loops.ts";
import { NOTES } from "../../tools/environment/guide-notes.ts";
import { definitionSchema } from "../../src/engine/definition/definition-schema.ts";
import { ERRORS } from "../../src/core/errors.ts";
import { STEP_ERRORS } from "../../src/core/step-errors.ts";
import { stepTypes } from "../../src/steps/index.ts";
import { SYNONYMS } from "../../tools/environment/topic-synonyms.ts";
import { EXAMPLE_DEFINITION, getGuide, getGuides, TOPICS } from "../../tools/environment/guide.ts";
import { catalogue } from "../../tools/index.ts";
import { describeEnvironment } from "../../tools/environment/describe-environment.ts";
import { OPERATOR_ACTOR } from "../../src/commands/operator.ts";
import { invoke } from "../../src/surfaces/invoke.ts";
import { testInstance } from "../support/instance.ts";
import { callOf } from "../support/call-context.ts";

const guideTo = (topic: string) => getGuide(topic, stepTypes, catalogue)!;
const known = (topic: string) => getGuides([topic], stepTypes, catalogue);
const about = (asked: string) => known(asked).guide;
const topics = [...TOPICS, ...stepTypes.map(({ type }) => type)];

interface NamedFields {
  properties?: Record<string, unknown>;
}

/** The names of all fields in a JSON Schema, but not those in its examples, defaults and constants. */
const fieldNames = (schema: unknown): string[] =>
  schema === null || typeof schema !== "object"
    ? []
    : Array.isArray(schema)
      ? schema.flatMap(fieldNames)
      : [
          ...Object.keys((schema as NamedFields).properties ?? {}),
          ...Object.entries(schema)
            .filter(([key]) => !["example", "examples", "default", "const", "enum"].includes(key))
            .flatMap(([, part]) => fieldNames(part)),
        ];
const namesOf = (schema: z.ZodType) =>
  fieldNames(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }));
const words = [
  ...new Set([
    ...namesOf(definitionSchema(stepTypes)),
    ...catalogue.flatMap(({ input }) => namesOf(input)),
    ...Object.keys(FUNCTIONS),
    ...Object.keys(LOOPS),
    ...Object.keys(NOTES),
    ...Object.keys(RUN_FIELDS),
    "run",
    "event",
    "item",
    "index",
    "loop",
    "result",
    "event_urls",
  ]),
].filter((word) => !topics.includes(word));

describe("the guide", () => {
  it.each(topics)("to %s covers everything in at most a few thousand tokens", (topic) => {
    const guide = guideTo(topic);
    expect(guide).not.toMatch(/undefined|\[object|NaN/);
    expect(guide.length / 4).toBeLessThan(topic === "definition" ? 5_000 : 2_000);
  });

  it("names every step type and every field of each", () => {
    const whole = guideTo("definition");
    for (const { type, fields } of stepTypes) {
      expect(whole).toContain(`- \`${type}\`: `);
      for (const field of Object.keys(fields as object)) expect(guideTo(type)).toContain(`- \`${field}\` (`);
    }
  });

  it.each(words)("to %s alone is short", (word) => {
    const guide = guideTo(word);
    expect(guide).toMatch(new RegExp(`\\b${word}\\b`));
    expect(guide).not.toMatch(/undefined|\[object|NaN/);
    expect(guide.length).toBeLessThan(3_200);
  });

  it("to several topics says nothing twice, and leaves the guides to parts of the language whole", () => {
    expect(about("attempts, retry")).toBe(guideTo("retry"));
    expect(about("accept_status, http, http")).toBe(guideTo("http"));
    expect(about("for_each, definition, needs")).toBe(guideTo("definition"));
    const lines = about("attempts, retry, accept_status, http, parse_csv, csv, sql, max_rows").split("\n");
    const entries = lines
      .filter((line) => line.includes("- `"))
      .map((line) => line.slice(line.indexOf("- `")));
    expect(entries.length).toBeGreaterThan(20);
    expect(new Set(entries).size).toBe(entries.length);
  });

  it("takes topics as agents write them", () => {
    const both = getGuides(["for_each, retry"], stepTypes, catalogue);
    expect(both).toMatchObject({ unknown: [], guide: `${guideTo("for_each")}\n\n${guideTo("retry")}` });
    for (const asked of [
      ["for_each", "retry"],
      ['["for_each", "retry"]'],
      ["for_each retry"],
      ["For each; `retry`"],
      ["FOR_EACH Retry"],
      ["steps.for_each, retry.attempts, retry"],
    ])
      expect(getGuides(asked, stepTypes, catalogue)).toEqual(both);
    const { unknown, guide } = getGuides(["cooking recipes, retry"], stepTypes, catalogue);
    expect(unknown).toEqual(["cooking recipes"]);
    expect(getGuides(["cooking, cooking", "[]"], stepTypes, catalogue).unknown).toEqual(["cooking"]);
    expect(getGuides([", "], stepTypes, catalogue).unknown).toEqual([", "]);
    expect(guide).toBe(guideTo("retry"));
  });

  it("knows error codes, operations, and words of other workflow languages", () => {
    expect(about("http_status")).toBe(
      "- `http_status`, an error code of steps: The response has an unexpected status. `retry` repeats it unless `on` names others.",
    );
    expect(about("assert_failed")).toContain("`retry` repeats it only if `on` names it.");
    expect(about("version_conflict")).toMatch(/^- `version_conflict`, an error code of calls \(\d+\): /);
    expect(about("run_workflow")).toContain("(POST /workflows/:workflow_id/runs): ");
    expect(about("start_backfill")).toContain("(not over MCP: POST ");
    for (const code of [...Object.keys(STEP_ERRORS), ...Object.keys(ERRORS)])
      expect(known(code).unknown).toEqual([]);
    for (const [word, meant] of SYNONYMS)
      expect([word, known(word)]).toEqual([word, getGuides([meant], stepTypes, catalogue)]);
    expect(about("error handling")).toBe(about("on_error, retry, undo"));
    expect(about("approval.by")).toBe(about("approval"));
    expect(about("webhooks pagination")).toBe(about("triggers, repeat"));
    expect(known("for each, cooking recipes").unknown).toEqual(["cooking recipes"]);
  });

  it("says first what a word is in the language, and of other operations only where the language has no such word", () => {
    expect(guideTo("given")).toMatch(/^Of `examples`: - `given`.*\nOf run_workflow: - `given`/);
    expect(guideTo("overlap")).toMatch(/^Of `schedule`: - `overlap` [^\n]*$/);
    expect(guideTo("scheduled_for")).toContain("the time of the schedule");
    expect(guideTo("limit")).toMatch(/^Of \w+, list_\w+, list_\w+ and \d+ more: - `limit`/);
    expect(guideTo("wait")).toMatch(/^# Step type wait: [^]*\nOf run_step, run_workflow, [^\n]*: - `wait`/);
    expect(guideTo("model").split("- `model` (")).toHaveLength(2);
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
      guide: guideTo("assert"),
      warnings: [expect.objectContaining(unknown)],
    });
    expect(await ask("assert")).not.toHaveProperty("warnings");
    await expect(ask("forech")).rejects.toMatchObject({ details: { errors: [unknown] } });
    const many = Array.from({ length: 60 }, (_, index) => `no${index}`).join(",");
    expect((await ask(`${many.slice(0, 190)},assert`)).warnings).toHaveLength(20);
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
