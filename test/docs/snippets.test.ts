import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { describe, expect, it, onTestFinished } from "vitest";
import { Config } from "../../schemas/config.ts";
import { connections } from "../../src/connections/index.ts";
import { STEP_ERROR_CODES } from "../../src/core/step-errors.ts";
import { checker } from "../../src/engine/check/index.ts";
import { FUNCTIONS } from "../../src/engine/expressions/functions.ts";
import { stepTypes } from "../../src/steps/index.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const PAGES = [
  "README.md",
  ...readdirSync(join(ROOT, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name)),
];
const textOf = (page: string): string => readFileSync(join(ROOT, page), "utf8");

interface Snippet {
  page: string;
  line: number;
  text: string;
}

/** The YAML and JSON blocks of a page that hold a whole workflow: those with `steps` at the top. */
function workflowsOf(page: string): Snippet[] {
  const text = textOf(page);
  return [...text.matchAll(/^( *)```(?:ya?ml|json)\n(.*?)^ *```$/gms)].flatMap(
    ({ index, 1: indent, 2: block }) => {
      const snippet = block!.replaceAll(new RegExp(`^${indent}`, "gm"), "");
      const value: unknown = parse(snippet);
      const holds = typeof value === "object" && value !== null && "steps" in value;
      return holds ? [{ page, line: text.slice(0, index).split("\n").length, text: snippet }] : [];
    },
  );
}

const SNIPPETS = PAGES.flatMap(workflowsOf);

describe("the documentation", () => {
  it("shows workflows", () => {
    expect(SNIPPETS.length).toBeGreaterThan(stepTypes.length);
    const shown = new Set(
      SNIPPETS.flatMap(({ text }) => [...text.matchAll(/type: (\w+)/g)].map((found) => found[1]!)),
    );
    expect(stepTypes.map(({ type }) => type).filter((type) => !shown.has(type))).toEqual([]);
  });

  it("shows only workflows that the checker passes", async () => {
    const connected = connections(Config.parse({}), {}, { stateDir: ROOT, version: "0", now: () => 0 });
    onTestFinished(() => connected.close());
    const workflows = { workflow: () => Promise.resolve(undefined), workflowIds: () => Promise.resolve([]) };
    const { check } = checker({ stepTypes, connections: connected, workflows });
    const faults = SNIPPETS.map(async ({ page, line, text }) => {
      const { errors } = await check(text, { bind: false, file: true });
      return errors.map((fault) => `${page}:${line + (fault.line ?? 0)}: ${fault.path} ${fault.message}`);
    });
    expect((await Promise.all(faults)).flat()).toEqual([]);
  });

  it("lists every error that a step can end with, and no other", () => {
    const [, section] = /^## Errors\n(.*?)(?=^## )/ms.exec(textOf("docs/workflows.md"))!;
    const listed = [...section!.matchAll(/^\| `(\w+)` +\|/gm)].map((found) => found[1]!);
    expect(new Set(listed)).toEqual(new Set<string>(STEP_ERROR_CODES));
  });

  it("names every function of expressions", () => {
    const [, section] = /^## Expressions\n(.*?)(?=^## )/ms.exec(textOf("docs/workflows.md"))!;
    const missing = Object.keys(FUNCTIONS).filter((name) => !new RegExp(`\\b${name}\\b`).test(section!));
    expect(missing).toEqual([]);
  });
});
