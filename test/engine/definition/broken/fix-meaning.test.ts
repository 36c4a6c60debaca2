/** Fixes keep the meaning: each definition becomes exactly the one that its author means. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { applyFixes } from "../../../../src/core/apply-fixes.ts";
import { brokenChecker } from "./broken-checker.ts";

const directory = mkdtempSync(join(tmpdir(), "millrace-test-"));
const { checker, close } = brokenChecker(directory);
afterAll(async () => {
  await close();
  rmSync(directory, { recursive: true, force: true });
});

const fixed = async (definition: unknown): Promise<unknown> => {
  const { report } = await applyFixes(definition, (source) =>
    checker.check(source, { checkConnections: true }),
  );
  expect(report.errors).toEqual([]);
  return report.definition;
};

type Step = Record<string, unknown>;
const set = (id: string, more: Step = {}): Step => ({ id, type: "set", values: { n: 1 }, ...more });
const reads = (id: string, ...read: string[]): Step =>
  set(id, { values: { n: `\${{ ${read.map((other) => `steps.${other}.n`).join(" + ")} }}` } });
const get = (more: Step): Step => ({ id: "get", type: "http", url: "https://api.example.com/x", ...more });
const orders = { id: "orders", type: "sql", query: "SELECT id, region FROM orders" };

describe("a fix", () => {
  it.each<[string, Step, Step]>([
    ["keeps a condition", get({ when: "1 < 2" }), get({ if: "1 < 2" })],
    ["keeps the number of retries", get({ retries: 3 }), get({ retry: { attempts: 4 } })],
    ["keeps the number of attempts", get({ max_attempts: 3 }), get({ retry: { attempts: 3 } })],
    [
      "keeps the pauses of a policy",
      get({ retry: { max_retries: 2, delay_seconds: 5, max_delay: "1 minute", strategy: "constant" } }),
      get({ retry: { attempts: 3, initial: "5s", max: "1m", backoff: "fixed" } }),
    ],
    ["keeps the unit of a timeout", get({ timeout_ms: 1500 }), get({ timeout: "1500ms" })],
    ["adds the unit of a timeout", get({ timeout: "0.5 hours" }), get({ timeout: "30m" })],
    ["keeps what happens on an error", get({ continue_on_error: true }), get({ on_error: "continue" })],
    [
      "keeps the fields in an object around them",
      { id: "get", type: "http", with: { url: "https://api.example.com/x", query: { page: 2 } } },
      get({ query: { page: 2 } }),
    ],
    ["keeps the query parameters of a request", get({ params: { page: 2 } }), get({ query: { page: 2 } })],
    [
      "keeps the parameters of a query",
      { id: "a", type: "sql", query: "SELECT id FROM orders WHERE id = :id", parameters: { id: 1 } },
      { id: "a", type: "sql", query: "SELECT id FROM orders WHERE id = :id", params: { id: 1 } },
    ],
    [
      "keeps the messages of a chat",
      {
        id: "a",
        type: "model",
        model: "writer",
        messages: [
          { role: "system", content: "Be terse." },
          { role: "user", content: "Hello" },
        ],
      },
      { id: "a", type: "model", model: "writer", system: "Be terse.", prompt: "Hello" },
    ],
    [
      "binds a template in a query as a parameter",
      {
        id: "a",
        type: "sql",
        query: "SELECT id FROM orders WHERE region = '${{ run.trigger }}' AND id > ${{ 1 + 1 }}",
      },
      {
        id: "a",
        type: "sql",
        query: "SELECT id FROM orders WHERE region = :trigger AND id > :value",
        params: { trigger: "${{ run.trigger }}", value: "${{ 1 + 1 }}" },
      },
    ],
  ])("%s", async (_, written, meant) => {
    expect(await fixed({ steps: [written] })).toEqual({ steps: [meant] });
  });

  it.each<[string, Step[], Step[]]>([
    [
      "keeps the step before, which was only implied, among the needs",
      [set("a"), set("b"), set("c", { needs: [] }), { ...reads("d", "a", "c") }],
      [set("a"), set("b"), set("c", { needs: [] }), { ...reads("d", "a", "c"), needs: ["c", "a"] }],
    ],
    [
      "keeps the needs and adds another",
      [set("a"), set("b", { needs: [] }), { ...reads("c", "a", "b"), needs: ["b"] }],
      [set("a"), set("b", { needs: [] }), { ...reads("c", "a", "b"), needs: ["b", "a"] }],
    ],
    [
      "moves a step behind the later one that it reads, since a need would make a cycle",
      [reads("a", "b"), set("b"), set("c")],
      [set("b"), reads("a", "b"), set("c")],
    ],
    [
      "moves the later step forward, if others in between read the first",
      [reads("a", "c"), reads("b", "a"), set("c")],
      [set("c"), reads("a", "c"), reads("b", "a")],
    ],
    [
      "moves a step that needs a later one",
      [{ ...reads("a", "b"), needs: ["b"] }, set("b")],
      [set("b"), { ...reads("a", "b"), needs: ["b"] }],
    ],
    [
      "removes the only need in a cycle that nothing reads",
      [set("a", { needs: ["b"] }), { ...reads("b", "a"), needs: ["a"] }],
      [set("a", { needs: [] }), { ...reads("b", "a"), needs: ["a"] }],
    ],
    [
      "keeps one need given as text",
      [set("a"), set("b", { needs: [] }), set("c", { depends_on: "a" })],
      [set("a"), set("b", { needs: [] }), set("c", { needs: ["a"] })],
    ],
    [
      "filters the items of a fan-out by the condition on them",
      [orders, set("each", { for_each: "${{ steps.orders.rows }}", if: "item.region == 'north'" })],
      [orders, set("each", { for_each: "steps.orders.rows.filter(item, item.region == 'north')" })],
    ],
    [
      "reads the iteration of a repeated step as result",
      [get({ repeat: { until: "steps.get.body.done == true", max: 5 } })],
      [get({ repeat: { until: "result.body.done == true", max: 5 } })],
    ],
    [
      "reads the output of the step that it undoes as result",
      [
        get({
          method: "POST",
          undo: { type: "http", method: "DELETE", url: "https://api.example.com/${{ steps.get.body.id }}" },
        }),
      ],
      [
        get({
          method: "POST",
          undo: { type: "http", method: "DELETE", url: "https://api.example.com/${{ result.body.id }}" },
        }),
      ],
    ],
    [
      "hands out the URL of an event",
      [
        get({ method: "POST", body: "${{ steps.answer.url }}" }),
        { id: "answer", type: "wait", event: {}, timeout: "1h" },
      ],
      [
        get({ method: "POST", body: "${{ run.event_urls.answer }}" }),
        { id: "answer", type: "wait", event: {}, timeout: "1h" },
      ],
    ],
    [
      "renames an id with what reads it",
      [set("fetch-it"), set("b", { needs: ["fetch-it"], values: { n: "${{ steps['fetch-it'].n }}" } })],
      [set("fetch_it"), set("b", { needs: ["fetch_it"], values: { n: "${{ steps.fetch_it.n }}" } })],
    ],
  ])("%s", async (_, written, meant) => {
    expect(await fixed({ steps: written })).toEqual({ steps: meant });
  });

  it.each([
    ["inputs.n === 1 and not inputs.done", "inputs.n == 1 && !inputs.done"],
    ["{{ inputs.n > 1 }}", "inputs.n > 1"],
    ["${{ inputs.n }} > 1 || ${{ inputs.done }}", "inputs.n > 1 || inputs.done"],
    ["inputs.name is not None", "inputs.name != null"],
    ["inputs.n not in [1, 2]", "!(inputs.n in [1, 2])"],
    ["inputs.name = 'a = b and c'", "inputs.name == 'a = b and c'"],
    ["inputs.tags.length > 0", "inputs.tags.size() > 0"],
    ["inputs.tags", "size(inputs.tags) > 0"],
    ["!inputs.tags", "!(size(inputs.tags) > 0)"],
    ["inputs.tags.some(t => t.startsWith('a'))", "inputs.tags.exists(t, t.startsWith('a'))"],
    ["inputs.name.toLowerCase() == 'ada'", "inputs.name.lower() == 'ada'"],
    ["inputs.n == '5'", "inputs.n == 5"],
    ["inputs.done == 'true'", "inputs.done == true"],
    ["Math.abs(inputs.n) > 1", "abs(inputs.n) > 1"],
    ["isEmpty(inputs.tags)", "(size(inputs.tags) == 0)"],
    ["n > 1", "inputs.n > 1"],
    ["params.n > 1 && True", "inputs.n > 1 && true"],
  ])("translates the condition %s", async (written, meant) => {
    const inputs = {
      type: "object",
      properties: {
        n: { type: "number" },
        name: { type: "string" },
        done: { type: "boolean" },
        tags: { type: "array", items: { type: "string" } },
      },
      required: ["n", "name", "done", "tags"],
    };
    const steps = [set("a", { if: written })];
    expect(await fixed({ inputs, steps })).toEqual({ inputs, steps: [set("a", { if: meant })] });
  });

  it.each([
    ["steps.get.status == 200", "steps.get.status_code == 200"],
    ["200 != steps.get.status", "200 != steps.get.status_code"],
    ["steps.get.status >= 400", "steps.get.status_code >= 400"],
    ["400 > steps.get.status", "400 > steps.get.status_code"],
  ])("compares the status of the response in %s", async (written, meant) => {
    expect(await fixed({ steps: [get({}), set("a", { if: written })] })).toEqual({
      steps: [get({}), set("a", { if: meant })],
    });
  });

  it.each([
    ["Dear {{ inputs.name }},\n${inputs.name}!", "Dear ${{ inputs.name }},\n${{ inputs.name }}!"],
    ["${{ 'a\n' + inputs.name }}", "${{ 'a\\n' + inputs.name }}"],
    [
      "${{ inputs.name + 1 }} and ${{ 2 + inputs.name }}",
      "${{ inputs.name + string(1) }} and ${{ string(2) + inputs.name }}",
    ],
    ["${{ `Dear ${inputs.name}` }}", '${{ ("Dear " + string(inputs.name)) }}'],
    ["${{ inputs.name | upper }}", "${{ upper(inputs.name) }}"],
    ["${{ coalesce(inputs.nick, inputs.name) }}", "${{ (inputs.nick ?? inputs.name) }}"],
    ["${{ inputs.nmae.lenght() }}", "${{ inputs.name.size() }}"],
  ])("translates the text %j", async (written, meant) => {
    const inputs = {
      type: "object",
      properties: { name: { type: "string" }, nick: { type: "string" } },
      required: ["name"],
    };
    expect(await fixed({ inputs, steps: [set("a", { values: { t: written } })] })).toEqual({
      inputs,
      steps: [set("a", { values: { t: meant } })],
    });
  });

  it.each([
    ["a literal brace", "Use ${HOME} and {{ name }} and { steps }"],
    ["an escaped template", "$${{ inputs.name }}"],
    ["a price", "costs ${5}"],
  ])("leaves %s alone", async (_, text) => {
    const definition = { steps: [set("a", { values: { text } })] };
    expect(await fixed(definition)).toEqual(definition);
  });
});

describe("what no patch can fix", () => {
  const issuesOf = async (steps: Step[]) => {
    const { errors } = await checker.check({ steps }, { checkConnections: true });
    return errors;
  };

  it.each<[string, Step[], string]>([
    ["two steps that read each other", [reads("a", "b"), reads("b", "a")], "not_an_ancestor"],
    ["two ids that are the same, where a step reads one", [set("a"), set("a"), reads("b", "a")], "duplicate"],
    ["an unknown key that nothing resembles", [get({ quux: 1 })], "unknown_key"],
    ["a field that is set under two names", [get({ if: "true", when: "false" })], "unknown_key"],
    ["a number that may be seconds or milliseconds", [get({ timeout: 60_000 })], "wrong_type"],
    [
      "a template that names a table",
      [{ id: "a", type: "sql", query: "SELECT id FROM ${{ run.id }}" }],
      "no_expression_here",
    ],
    [
      "a template inside a text of a query",
      [{ id: "a", type: "sql", query: "SELECT id FROM orders WHERE region LIKE '%${{ run.id }}%'" }],
      "no_expression_here",
    ],
  ])("has a sentence and no patch: %s", async (_, steps, code) => {
    const issue = (await issuesOf(steps)).find((found) => found.code === code);
    expect(issue).toMatchObject({ fix: expect.stringMatching(/\.$/) });
    expect(issue).not.toHaveProperty("patch");
  });

  it("never says to leave out what has a meaning", async () => {
    const keys = ["when", "retries", "depends_on", "with", "parameters"];
    const errors = await issuesOf([set("a"), get(Object.fromEntries(keys.map((key) => [key, "x"])))]);
    expect(errors.length).toBeGreaterThanOrEqual(keys.length);
    expect(errors.filter(({ fix = "" }) => /^(?:Remove it|Leave it out)/.test(fix))).toEqual([]);
  });
});

describe("all issues at once", () => {
  it("are reported of a step with an unknown key, an unknown function and a failing query", async () => {
    const { errors } = await checker.check(
      {
        steps: [
          { ...orders, query: "SELECT regoin FROM orders WHERE id = :id", quux: 1, timeout: "soon" },
          set("a", { values: { n: "${{ nope(steps.oders.rows) + inputs.x }}" } }),
        ],
        output: "${{ steps.b.n }}",
      },
      { checkConnections: true },
    );
    expect(errors.map(({ path, code }) => `${path} ${code}`)).toEqual([
      "steps[0].params.id missing",
      "steps[0].query database_failed",
      "steps[0].quux unknown_key",
      "steps[0].timeout wrong_format",
      "steps[1].values.n unknown_function",
      "steps[1].values.n unknown_step",
      "steps[1].values.n unknown_field",
      "output unknown_step",
    ]);
  });
});
