/** Broken definitions of the kinds that models write: each is refused at the right place, and most are fixed by a patch. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { Issue, JsonPatchOperation } from "../../../../schemas/problem.ts";
import { applyFixes } from "../../../../src/core/apply-fixes.ts";
import { applyJsonPatch } from "../../../../src/core/json-patch.ts";
import type { Report } from "../../../../src/engine/definition/check/index.ts";
import { brokenChecker } from "./broken-checker.ts";

interface BrokenCase {
  name: string;
  /** The path of one of its issues. */
  at: string;
  definition: Record<string, unknown>;
  /** Words of the sentence that `then` follows. */
  says?: string;
  /** What the sentence says literally, for what no patch fixes. */
  then?: JsonPatchOperation[];
}

interface Outcome {
  name: string;
  first: readonly Issue[];
  fixed: "by patch" | "by sentence" | "not";
  remaining: readonly Issue[];
}

const casesOf = (file: string): BrokenCase[] =>
  parse(readFileSync(join(import.meta.dirname, file), "utf8"), { maxAliasCount: 200 }) as BrokenCase[];

const cases = ["fields.yaml", "expressions.yaml", "structure.yaml"].flatMap(casesOf);

const directory = mkdtempSync(join(tmpdir(), "millrace-test-"));
const { checker, close } = brokenChecker(directory);
const outcomes = new Map<string, Outcome>();

const check = (source: unknown): Promise<Report> => checker.check(source, { checkConnections: true });

async function outcomeOf({ name, definition, then }: BrokenCase): Promise<Outcome> {
  const { errors: first } = await check(definition);
  const patched = await applyFixes(definition, check);
  if (patched.report.valid) return { name, first, fixed: "by patch", remaining: [] };
  if (then === undefined) return { name, first, fixed: "not", remaining: patched.report.errors };
  const { report } = await applyFixes(applyJsonPatch(patched.report.definition, then), check);
  return { name, first, fixed: report.valid ? "by sentence" : "not", remaining: report.errors };
}

const share = (kinds: readonly Outcome["fixed"][]): number =>
  [...outcomes.values()].filter(({ fixed }) => kinds.includes(fixed)).length / outcomes.size;

const unfixed = (): string[] =>
  [...outcomes.values()]
    .filter(({ fixed }) => fixed !== "by patch")
    .map(({ name, fixed, remaining }) =>
      [
        `${name}: ${fixed}`,
        ...remaining.map(({ path, message, fix }) => `    ${path} ${message} ${fix}`),
      ].join("\n"),
    );

beforeAll(async () => {
  for (const broken of cases) outcomes.set(broken.name, await outcomeOf(broken));
});
afterAll(async () => {
  await close();
  rmSync(directory, { recursive: true, force: true });
});

describe("a broken definition", () => {
  it("is one of at least 80, with a name of its own", () => {
    expect(cases.length).toBeGreaterThanOrEqual(80);
    expect(outcomes.size).toBe(cases.length);
  });

  it.each(cases)("is refused at the right path, and every issue says what to do: $name", (broken) => {
    const { first, remaining } = outcomes.get(broken.name)!;
    expect(first.map(({ path }) => path)).toContain(broken.at);
    for (const { fix } of [...first, ...remaining]) expect(fix).toMatch(/\S/);
    expect([...first, ...remaining].map(({ fix }) => fix).join("\n")).toContain(broken.says ?? "");
  });

  it("is valid after what its issues say in 9 of 10 cases, and by patches alone in 3 of 4", () => {
    if (process.env["SHOW_UNFIXED"] !== undefined) console.info(unfixed().join("\n"));
    expect({ all: share(["by patch", "by sentence"]), unfixed: unfixed() }).toMatchObject({
      all: expect.toSatisfy((value: number) => value >= 0.9),
    });
    expect({ patched: share(["by patch"]), unfixed: unfixed() }).toMatchObject({
      patched: expect.toSatisfy((value: number) => value >= 0.75),
    });
  });
});
