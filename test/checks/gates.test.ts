/** The parts of the long gate are named in several places. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { ROOT, sectionOf, tableIn } from "../support/documents.ts";

const textOf = (file: string): string => readFileSync(`${ROOT}${file}`, "utf8");

/** Parts that `npm run test:long` accepts. */
const PARTS = [
  .../const PARTS = \[([^\]]*)\]/.exec(textOf("bin/test-long.js"))![1]!.matchAll(/"(\w+)"/g),
].map(([, name]) => name!);

describe("the parts of the long gate", () => {
  it("are projects of its configuration", () => {
    const projects = [...textOf("vitest.long.config.ts").matchAll(/\bpart\("(\w+)"/g)].map(
      ([, name]) => name,
    );
    expect(new Set(projects)).toEqual(new Set(PARTS));
  });

  it("have the tests of every folder of test/long", () => {
    for (const folder of readdirSync(`${ROOT}test/long`)) expect(PARTS).toContain(folder);
  });

  it("are in CONTRIBUTING with their durations", () => {
    const rows = tableIn(sectionOf("CONTRIBUTING.md", "### Two gates"));
    expect(rows.map(([name]) => name)).toEqual(PARTS.map((name) => `\`${name}\``));
    for (const [, , duration] of rows) expect(duration).toMatch(/^\d+ (?:s|min)$/);
  });

  it("are run every night", () => {
    const { jobs } = parse(textOf(".github/workflows/nightly.yaml")) as {
      jobs: { long: { strategy: { matrix: { part: string[] } } } };
    };
    expect(jobs.long.strategy.matrix.part).toEqual(PARTS);
  });
});
