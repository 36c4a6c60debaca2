import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { parse, parseAllDocuments } from "yaml";
import { describe, expect, it, onTestFinished } from "vitest";
import { Config } from "../../schemas/config.ts";
import { createConnections } from "../../src/connections/index.ts";
import { STEP_ERROR_CODES } from "../../src/core/step-errors.ts";
import { checker } from "../../src/engine/definition/check/index.ts";
import { FUNCTIONS } from "../../src/engine/definition/expressions/functions.ts";
import { stepTypes } from "../../src/steps/index.ts";
import { type CodeBlock, codeBlocksOf, DOCUMENTS, ROOT, sectionOf } from "../support/documents.ts";

const BLOCKS = DOCUMENTS.flatMap(codeBlocksOf);
const DATA = BLOCKS.filter(({ language }) => /^(?:ya?ml|json)$/.test(language));

/** The keys at the top of a block, if it has any. */
function keysOf({ text }: CodeBlock): string[] {
  const value: unknown = parse(text);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
}

const SNIPPETS = DATA.filter((block) => keysOf(block).includes("steps"));
/** Parts of the configuration file. */
const CONFIGURATIONS = DATA.filter((block) => {
  const keys = keysOf(block);
  return keys.length > 0 && keys.every((key) => key in Config.shape);
});

interface Shape {
  properties?: Record<string, Shape>;
  items?: Shape;
}

/** Keys of a schema that an example of it never shows; of a list any entry may. */
function missingKeys({ properties = {}, items }: Shape, value: unknown, path = ""): string[] {
  if (items !== undefined) {
    const lacking = (value as unknown[]).map((entry) => missingKeys(items, entry, `${path}[]`));
    return lacking.reduce((some, others) => some.filter((key) => others.includes(key)));
  }
  return Object.entries(properties).flatMap(([name, shape]) => {
    const inner = (value as Record<string, unknown>)[name];
    return inner === undefined ? [`${path}.${name}`] : missingKeys(shape, inner, `${path}.${name}`);
  });
}

describe("the documentation", () => {
  it("shows workflows", () => {
    expect(SNIPPETS.length).toBeGreaterThan(stepTypes.length);
    const shown = new Set(
      SNIPPETS.flatMap(({ text }) => [...text.matchAll(/type: (\w+)/g)].map((found) => found[1]!)),
    );
    expect(stepTypes.map(({ type }) => type).filter((type) => !shown.has(type))).toEqual([]);
  });

  it("shows only workflows that the checker passes", async () => {
    const connected = createConnections(Config.parse({}), {}, { stateDir: ROOT, version: "0", now: () => 0 });
    onTestFinished(() => connected.close());
    const workflows = { workflow: () => Promise.resolve(undefined), workflowIds: () => Promise.resolve([]) };
    const { check } = checker({ stepTypes, connections: connected, workflows });
    const issues = SNIPPETS.map(async ({ page, line, text }) => {
      const { errors } = await check(text, { checkConnections: false, allowFileFields: true });
      return errors.map((issue) => `${page}:${line + (issue.line ?? 0)}: ${issue.path} ${issue.message}`);
    });
    expect((await Promise.all(issues)).flat()).toEqual([]);
  });

  it("shows only JSON and YAML that can be read, and JSON that is JSON", () => {
    const broken = DATA.flatMap(({ page, line, language, text }) => {
      try {
        if (language === "json") JSON.parse(text);
        const errors = parseAllDocuments(text).flatMap((document) => document.errors);
        return errors.map(({ message }) => `${page}:${line}: ${message}`);
      } catch (error) {
        return [`${page}:${line}: ${(error as Error).message}`];
      }
    });
    expect(broken).toEqual([]);
  });

  it("explains every key of the configuration in config.example.yaml", () => {
    const { $defs } = z.toJSONSchema(Config, { io: "input" });
    const text = readFileSync(join(ROOT, "config.example.yaml"), "utf8");
    expect(missingKeys($defs!["Config"] as Shape, parse(text))).toEqual([]);
  });

  it("shows only configurations that the program takes", () => {
    expect(CONFIGURATIONS.length).toBeGreaterThan(0);
    const refused = CONFIGURATIONS.flatMap(({ page, line, text }) => {
      const { error } = Config.safeParse(parse(text));
      return error === undefined ? [] : [`${page}:${line}: ${error.message}`];
    });
    expect(refused).toEqual([]);
  });

  it("lists every error that a step can end with, and no other", () => {
    const section = sectionOf("docs/workflows.md", "## Errors");
    const listed = [...section.matchAll(/^\| `(\w+)` +\|/gm)].map((found) => found[1]!);
    expect(new Set(listed)).toEqual(new Set<string>(STEP_ERROR_CODES));
  });

  it("names every function of expressions", () => {
    const section = sectionOf("docs/workflows.md", "## Expressions");
    const missing = Object.keys(FUNCTIONS).filter((name) => !new RegExp(`\\b${name}\\b`).test(section));
    expect(missing).toEqual([]);
  });
});
