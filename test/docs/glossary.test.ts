import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = new URL("../../", import.meta.url).pathname;

/** The rows of the glossary's tables: each names a term and, in backticks, a path and perhaps an exported name. */
const rows = readFileSync(join(ROOT, "docs/glossary.md"), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("|") && !/^\| (?:term|-)/.test(line))
  .map((line) => {
    const [, term = "", meaning = "", code = ""] = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
    const [path = "", name] = [...code.matchAll(/`([^`]+)`/g)].map((match) => match[1]!);
    return { term, meaning, path, name };
  });

describe("the glossary", () => {
  it("has the terms of workflows, runs, the queue, callers and operations", () => {
    expect(rows.length).toBeGreaterThan(50);
    expect(new Set(rows.map(({ term }) => term)).size).toBe(rows.length);
  });

  it.each(rows)("$term: says what it means, in a sentence", ({ meaning }) => {
    expect(meaning).toMatch(/\.$/);
  });

  it.each(rows)("$term: names a file or folder that exists", ({ path }) => {
    expect(existsSync(join(ROOT, path))).toBe(true);
  });

  it.each(rows.filter(({ name }) => name !== undefined))("$term: $name is in $path", ({ path, name }) => {
    expect(readFileSync(join(ROOT, path), "utf8")).toContain(name);
  });
});
