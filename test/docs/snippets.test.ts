import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { parse, parseAllDocuments } from "yaml";
import { describe, expect, it, onTestFinished } from "vitest";
import { Config } from "../../schemas/config.ts";
import { createConnections } from "../../src/connections/index.ts";
import { fixedSecrets } from "../../src/core/secret-source.ts";
import { STEP_ERROR_CODES } from "../../src/core/step-errors.ts";
import { checker } from "../../src/engine/definition/check/index.ts";
import { FUNCTIONS } from "../../src/engine/definition/expressions/functions.ts";
import { stepTypes } from "../../src/steps/index.ts";
import { type CodeBlock, codeBlocksOf, DOCUMENTS, ROOT, sectionOf } from "../support/documents.ts";

const BLOCKS = DOCUMENTS.flatMap(codeBlocksOf);
const DATA = BLOCKS.filter(({ language }) => /^(?:ya?ml|json)$/.test(language));

/** The top-level keys of a block; none if it is not an object. */
function keysOf({ text }: CodeBlock): string[] {
  const value: unknown = parse(text);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
}

const SNIPPETS = DATA.filter((block) => keysOf(block).includes("steps"));
/** Blocks that are a part of the configuration file. */
const CONFIGURATIONS = DATA.filter((block) => {
  const keys = keysOf(block);
  return keys.length > 0 && keys.every((key) => key in Config.shape);
});

interface Shape {
  properties?: Record<string, Shape>;
  items?: Shape;
}

/** Keys of a schema that an example lacks. In a list, one entry with the key is enough. */
function missingKeys({ properties = {}, items }: Shape, value: unknown, path = ""): string[] {
  if (items !== undefined) {
    const missing = (value as unknown[]).map((entry) => missingKeys(items, entry, `${path}[]`));
    return missing.reduce((common, keys) => common.filter((key) => keys.includes(key)));
  }
  return Object.entries(properties).flatMap(([name, shape]) => {
    const inner = (value as Record<string, unknown>)[name];
    return inner === undefined ? [`${path}.${name}`] : missingKeys(shape, inner, `${path}.${name}`);
  });
}

describe("the documentation", () => {
  it("shows workflows with every step type", () => {
    expect(SNIPPETS.length).toBeGreaterThan(stepTypes.length);
    const shown = new Set(
      SNIPPETS.flatMap(({ text }) => [...text.matchAll(/type: (\w+)/g)].map((found) => found[1]!)),
    );
    expect(stepTypes.map(({ type }) => type).filter((type) => !shown.has(type))).toEqual([]);
  });

  it("shows only valid workflows", async () => {
    const connected = createConnections(Config.parse({}), fixedSecrets({}), {
      stateDir: ROOT,
      version: "0",
      now: () => 0,
    });
    onTestFinished(() => connected.close());
    const workflows = { find: () => Promise.resolve(undefined), ids: () => Promise.resolve([]) };
    const { check } = checker({ stepTypes, connections: connected, workflows });
    const issues = SNIPPETS.map(async ({ page, line, text }) => {
      const { errors } = await check(text, { checkConnections: false, allowFileFields: true });
      return errors.map((issue) => `${page}:${line + (issue.line ?? 0)}: ${issue.path} ${issue.message}`);
    });
    expect((await Promise.all(issues)).flat()).toEqual([]);
  });

  it("shows only valid JSON and YAML", () => {
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

  it("shows only valid configurations", () => {
    expect(CONFIGURATIONS.length).toBeGreaterThan(0);
    const invalid = CONFIGURATIONS.flatMap(({ page, line, text }) => {
      const { error } = Config.safeParse(parse(text));
      return error === undefined ? [] : [`${page}:${line}: ${error.message}`];
    });
    expect(invalid).toEqual([]);
  });

  it("lists exactly the error codes of steps", () => {
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
