/** No test of the first gate depends on how fast the machine is: no sleeps, no deadlines of its own, no bounds of time. */
import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ROOT } from "../support/documents.ts";

interface Rule {
  name: string;
  pattern: RegExp;
  /** A line that breaks the rule. */
  example: string;
  instead: string;
}

const RULES: readonly Rule[] = [
  {
    name: "a sleep",
    pattern: /new Promise(?:<\w+>)?\(\(\w+\) => (?:void )?setTimeout\(\w+,/g,
    example: "await new Promise((resolve) => setTimeout(resolve, 50));",
    instead: "eventually, or quietTime for what must not happen",
  },
  {
    name: "a sleep",
    pattern: /import \{[^}]*\bsetTimeout\b[^}]*\} from "node:timers\/promises"/g,
    example: 'import { setTimeout as delay } from "node:timers/promises";',
    instead: "eventually, or quietTime for what must not happen",
  },
  {
    name: "a wait with the default deadline of one second",
    pattern: /\bvi\.waitFor\(|\bvi\.waitUntil\(/g,
    example: "await vi.waitFor(() => expect(calls).toBe(1));",
    instead: "untilPassing",
  },
  {
    name: "a deadline of its own",
    pattern:
      /\.poll\([^;]*\btimeout: ?[\d_]+|\b(?:it|test)\([^;{]*\{ timeout: ?[\d_]+|^ *\}, [\d_]{5,}\);$/gm,
    example: 'it("ends", { timeout: 5_000 }, async () => {});',
    instead: "the limit of all tests, which grows with the load",
  },
  {
    name: "a deadline of its own",
    pattern: /\bAbortSignal\.timeout\(/g,
    example: "const signal = AbortSignal.timeout(5_000);",
    instead: "a signal that nothing aborts",
  },
  {
    name: "a bound of time",
    pattern:
      /expect\([^;]*\b(?:performance\.now\(\) -|Date\.now\(\) -|cpuUsage|cpuTime\w*\(|elapsed\w*\()[^;]*\)\s*\.(?:not\.)?toBeLess/g,
    example: "expect(performance.now() - start).toBeLessThan(10_000);",
    instead: "the order of events, counted work, expectCost or startTimer",
  },
];

/** The files of the first gate. What serves only the long gate in test/support is excepted. */
const LONG_SUPPORT = [
  "conformance-fixtures",
  "run-chaos",
  "run-starter",
  "image",
  "health-fuzz",
  "loop-monitor",
  "load-balancer",
  "deployment",
  "proxied-installation",
];
const files = globSync(["test/**/*.test.{ts,tsx}", "test/support/**/*.ts"], { cwd: ROOT }).filter(
  (file) =>
    !/^test\/(?:long|clients|mutation)\//.test(file) &&
    !["test/checks/patience.test.ts", "test/support/eventually.ts", "test/support/expect-cost.ts"].includes(
      file,
    ) &&
    !LONG_SUPPORT.some((name) => file === `test/support/${name}.ts`),
);

const lineOf = (text: string, index: number): number => text.slice(0, index).split("\n").length;

/** The positions of calls of `eventually` whose last argument is a number. */
function limitedWaits(text: string): number[] {
  return [...text.matchAll(/\beventually\(/g)].flatMap(({ index, 0: { length } }) => {
    let depth = 1;
    let end = index + length;
    for (; depth > 0 && end < text.length; end += 1)
      if (text[end] === "(") depth += 1;
      else if (text[end] === ")") depth -= 1;
    return /,\s*[\d_]+,?\s*$/.test(text.slice(index, end - 1)) ? [index] : [];
  });
}

const findingsIn = (text: string): string[] => [
  ...RULES.flatMap(({ name, pattern, instead }) =>
    [...text.matchAll(pattern)].map(({ index }) => `${lineOf(text, index)}: ${name}. Use ${instead}.`),
  ),
  ...limitedWaits(text).map(
    (index) => `${lineOf(text, index)}: a deadline of its own. Use eventually without one.`,
  ),
];

describe("the tests of the first gate", () => {
  it.each(RULES)("are searched for $name: $example", ({ example, instead }) => {
    expect(findingsIn(example)).toEqual([expect.stringContaining(instead)]);
  });

  it("are searched for waits with a deadline of their own", () => {
    expect(findingsIn('await eventually(() => ended() || undefined, "the end", 2_000);')).toHaveLength(1);
    expect(
      findingsIn("await eventually(\n  async () => (await x()) ?? y,\n  what,\n  15_000,\n);"),
    ).toHaveLength(1);
    expect(findingsIn('await eventually(() => find(1_000), "the end");')).toEqual([]);
  });

  it("contain no sleeps, no deadlines of their own and no bounds of time", () => {
    expect(files.length).toBeGreaterThan(400);
    const found = files.flatMap((file) =>
      findingsIn(readFileSync(`${ROOT}${file}`, "utf8")).map((finding) => `${file}:${finding}`),
    );
    expect(found).toEqual([]);
  });
});
