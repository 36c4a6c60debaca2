import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import { compileCel } from "../../../../src/engine/definition/expressions/index.ts";
import { CEL_DIFFERENCES } from "./cel-differences.ts";

interface ConformanceCase {
  name: string;
  expr: string;
  /** Variables that the expression may read. */
  bindings?: Record<string, unknown>;
  /** Whether the expression has to fail, at compile time or at run time. */
  error?: true;
  value?: unknown;
}

const { files } = JSON.parse(readFileSync(new URL("cel-conformance.json", import.meta.url), "utf8")) as {
  files: Record<string, ConformanceCase[]>;
};
const listed = CEL_DIFFERENCES.flatMap(({ cases }) => cases);

function conforms({ expr, bindings, error, value }: ConformanceCase): boolean {
  let result: unknown;
  try {
    result = compileCel(expr).evaluate({ inputs: {}, run: {}, steps: {}, ...bindings });
  } catch {
    return error === true;
  }
  return error !== true && isDeepStrictEqual(result, value);
}

describe("the conformance cases of the CEL project", () => {
  it.each(Object.entries(files))("hold for %s, apart from exactly the listed differences", (file, cases) => {
    const different = cases.filter((one) => !conforms(one)).map(({ name }) => `${file}/${name}`);
    expect(different.toSorted()).toEqual(listed.filter((name) => name.startsWith(`${file}/`)).toSorted());
  });

  it("include every listed difference, once", () => {
    const names = new Set(
      Object.entries(files).flatMap(([file, cases]) => cases.map(({ name }) => `${file}/${name}`)),
    );
    expect(listed.filter((name) => !names.has(name))).toEqual([]);
    expect(new Set(listed).size).toBe(listed.length);
  });
});
