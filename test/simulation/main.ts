/**
 * Simulates installations: `npm run simulate -- --from 1 --seeds 200`. It prints the seeds that break a promise, and the story of the first
 * one, as short as it can be made. `--seed 17` prints the story of one seed. With `--mutant NAME` the product has a planted bug
 * (mutants.ts).
 */
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    from: { type: "string", default: "1" },
    seeds: { type: "string", default: "200" },
    seed: { type: "string" },
    mutant: { type: "string" },
    /** Ends with the first seed that breaks a promise, and prints no story. */
    first: { type: "boolean", default: false },
    /** Prints the story as it is, not as short as it can be made. */
    whole: { type: "boolean", default: false },
  },
});
const countOf = (name: "from" | "seeds"): number => {
  const count = Number(values[name]);
  if (Number.isSafeInteger(count) && count > 0) return count;
  console.error(`--${name} must be a positive integer, got ${values[name]}.`);
  process.exit(2);
};
const [from, seeds] = [countOf("from"), countOf("seeds")];
/** Maximum number of broken promises that are printed of a seed. */
const SHOWN = 5;

if (values.mutant !== undefined) {
  const { plant } = await import("./plant.ts");
  plant(values.mutant);
}
const [{ prepareTemplate, simulate }, { shorten }] = await Promise.all([
  import("./simulate.ts"),
  import("./shorten.ts"),
]);
const template = await prepareTemplate();
try {
  const isKept = await (values.seed === undefined ? simulateMany() : printStory(Number(values.seed)));
  process.exitCode = isKept ? 0 : 1;
} finally {
  template.remove();
}

/** @returns whether every promise was kept */
async function printStory(seed: number): Promise<boolean> {
  const result = await simulate(template, seed, { inDetail: true });
  const shown = result.issues.length === 0 || values.whole ? result : await shorten(template, result);
  console.log([...shown.story, ...shown.issues.map((issue) => `BROKEN ${issue}`)].join("\n"));
  return result.issues.length === 0;
}

async function simulateMany(): Promise<boolean> {
  const before = performance.now();
  const count = { seeds: 0, runs: 0, failures: 0, events: 0 };
  const failed: number[] = [];
  for (let seed = from; seed < from + seeds; seed += 1) {
    const { issues, runs, failures, events } = await simulate(template, seed);
    count.seeds += 1;
    count.runs += runs;
    count.failures += failures;
    count.events += events;
    if (issues.length === 0) continue;
    failed.push(seed);
    console.log([`seed ${seed} breaks ${issues.length} promises:`, ...issues.slice(0, SHOWN)].join("\n  "));
    if (values.first) break;
  }
  const seconds = ((performance.now() - before) / 1_000).toFixed(1);
  console.log(
    `${count.seeds} seeds in ${seconds} s, ${failed.length} with broken promises: ${count.runs} runs, ${count.failures} failures, ` +
      `${count.events} events`,
  );
  const [first] = failed;
  if (first === undefined) return true;
  if (!values.first) await printStory(first);
  return false;
}
