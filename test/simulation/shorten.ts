/** Finds a shorter story with the same end: of a seed nearby, with fewer kinds of failures, and without the failures and actions that it does not need. */
import { type Failure, FAILURES, type FailureRates } from "./failures.ts";
import { type Simulated, simulate, type SimulationOptions, type Template } from "./simulate.ts";

/** Maximum number of simulations. */
const MAX_TRIES = 150;
/** Number of seeds that are tried with fewer kinds of failures: the same failures happen elsewhere in them. */
const SEEDS = 12;

const ID = /\b(?:run|evt|int|apr|worker|listener|hook|key)_[\w-]+/g;

/** What is broken, without the ids and numbers in it. */
const kindOf = (issue: string): string => issue.replace(ID, "").replace(/\d+/g, "");

const ratesOf = (rates: FailureRates, kinds: readonly Failure[]): FailureRates =>
  Object.fromEntries(
    FAILURES.map((failure) => [failure, kinds.includes(failure) ? rates[failure] : 0]),
  ) as unknown as FailureRates;

/** @returns the simulation with what is needed for its first broken promise, shown in detail */
export async function shorten(template: Template, failed: Simulated): Promise<Simulated> {
  const kind = kindOf(failed.issues[0]!);
  let tries = 0;
  let found = { seed: failed.seed, result: failed, options: {} as SimulationOptions };

  async function isFound(seed: number, options: SimulationOptions): Promise<boolean> {
    if (tries >= MAX_TRIES) return false;
    tries += 1;
    const result = await simulate(template, seed, options);
    if (!result.issues.some((issue) => kindOf(issue) === kind)) return false;
    found = { seed, result, options };
    return true;
  }

  const kinds = FAILURES.filter((failure) => failed.rates[failure] > 0);
  const pairs = kinds.flatMap((one, index) => kinds.slice(index + 1).map((other) => [one, other]));
  search: for (const few of [[], ...kinds.map((one) => [one]), ...pairs])
    for (let seed = failed.seed; seed < failed.seed + SEEDS; seed += 1)
      if (await isFound(seed, { rates: ratesOf(failed.rates, few) })) break search;

  /** Leaves out as much as possible, in large parts first. */
  async function reduce(part: "actions" | "failures", numbers: readonly number[]): Promise<void> {
    tries = 0;
    const { seed } = found;
    for (let size = numbers.length; size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
      for (let from = 0; from < numbers.length; from += size) {
        const { options } = found;
        const without = { actions: new Set<number>(), failures: new Set<number>(), ...options.without };
        const more = new Set([...without[part], ...numbers.slice(from, from + size)]);
        if (more.size > without[part].size)
          await isFound(seed, { ...options, without: { ...without, [part]: more } });
      }
  }

  await reduce(
    "actions",
    Array.from({ length: found.result.actions }, (_, index) => index),
  );
  await reduce(
    "failures",
    Array.from({ length: found.result.failures }, (_, index) => index + 1),
  );
  const shown = await simulate(template, found.seed, { ...found.options, inDetail: true });
  const concerned = shown.issues
    .filter((issue) => kindOf(issue) === kind)
    .flatMap((issue) => issue.match(ID) ?? []);
  // Details of other runs are left out; failures are what happened to all of them.
  const story = shown.story.filter(
    (line) => !/ {2}\w+: /.test(line) || concerned.some((id) => line.includes(id)),
  );
  return { ...shown, story };
}
