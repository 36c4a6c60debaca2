import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { everydayExamples } from "../support/example-environment.ts";

const TESTS = join(import.meta.dirname, "everyday");

describe("the everyday examples", () => {
  it("are each published and run by a test in test/examples/everyday", () => {
    const tests = readdirSync(TESTS).map((name) => readFileSync(join(TESTS, name), "utf8"));
    const untested = everydayExamples().filter(
      (id) => !tests.some((text) => text.includes(`publish("${id}")`)),
    );
    expect(untested).toEqual([]);
  });
});
