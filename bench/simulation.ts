/**
 * What the queue does under loads that no machine of a developer carries, in the model of `simulation/queue-model.ts`: the same
 * code decides who may claim what. Nothing is measured here, so other work on the machine changes no figure.
 */
import { meanWaitOfQueue } from "./simulation/erlang-c.ts";
import { type OwnerLoad, type OwnerResult, type Scenario, simulate } from "./simulation/queue-model.ts";
import type { Result } from "./support/bench.ts";
import { formatFactor, milliseconds, percent, perSecond, type Row, table } from "./support/table.ts";

const SEED = 20_260;
const SECONDS_OF_DAY = 86_400;
const RUNS_OF_DAY = 10_000_000;
/** The busiest hour of a day in comparison with its mean. */
const PEAK = 4;
/** What the database of the sizing commits: how many at a time, and how long one takes, in seconds. */
const COMMITS = { parallel: 16, time: 0.004 };

const owner = (name: string, load: Omit<OwnerLoad, "name">): OwnerLoad => ({ name, ...load });

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}
const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
const inMilliseconds = (seconds: number): string => milliseconds(1_000 * seconds);
const inSeconds = (seconds: number): string => `${seconds.toFixed(1)} s`;
const run = (scenario: Omit<Scenario, "seed">, name: string): OwnerResult =>
  simulate({ ...scenario, seed: SEED }).get(name)!;

export async function simulation(): Promise<Result> {
  return {
    rows: [againstFormula(), ...backlogOfAnother(), ...overload(), deathOfExecutor()],
    details: sizing(),
  };
}

function againstFormula(): Row {
  const [slots, load] = [16, 12.8];
  const owners = [owner("a", { rate: load, steps: 1, stepTime: 1 })];
  const { waits } = run({ owners, executors: 1, slots, order: "arrival", duration: 20_000 }, "a");
  const expected = meanWaitOfQueue(slots, load);
  return {
    label: "mean wait at 80 % of 16 slots, by arrival",
    value: inSeconds(mean(waits)),
    baseline: `${inSeconds(expected)} by Erlang C`,
    ratio: formatFactor(mean(waits) / expected),
  };
}

function backlogOfAnother(): Row[] {
  const owners = [
    owner("many", { rate: 0, backlog: 100_000, steps: 1, stepTime: 0.2 }),
    owner("few", { rate: 1, steps: 3, stepTime: 0.2 }),
  ];
  const waitsOf = (order: Scenario["order"]): number[] =>
    run({ owners, executors: 4, slots: 16, order, duration: 600 }, "few").waits;
  const [byArrival, inTurns] = [waitsOf("arrival"), waitsOf("turns")];
  return [
    {
      label: "wait beside another owner's 100,000 jobs, p99",
      value: inMilliseconds(quantile(inTurns, 0.99)),
      baseline: `${inSeconds(quantile(byArrival, 0.99))} by arrival`,
      goal: "≤ one step",
      goalMet: quantile(inTurns, 0.99) <= 0.2,
    },
  ];
}

function overload(): Row[] {
  const maxQueueAge = 60;
  const owners = [
    owner("overloading", { rate: 120, steps: 1, stepTime: 0.5 }),
    owner("other", { rate: 5, steps: 1, stepTime: 0.5 }),
  ];
  const results = simulate({
    owners,
    executors: 2,
    slots: 16,
    order: "turns",
    maxQueueAge,
    duration: 3_600,
    seed: SEED,
  });
  const [overloading, other] = [results.get("overloading")!, results.get("other")!];
  const offered = overloading.started + overloading.refused;
  const served = overloading.finished / 3_600;
  return [
    {
      label: "an owner with twice the load that there is room for",
      value: `${percent(overloading.refused / offered)} refused, longest wait ${inSeconds(Math.max(...quantiles(overloading.waits)))}`,
      baseline: `${perSecond(served)} served of ${perSecond(120)}, limits.queue_age ${maxQueueAge} s`,
    },
    {
      label: "meanwhile, the wait of another owner, p99",
      value: inMilliseconds(quantile(other.waits, 0.99)),
      goal: "none refused",
      goalMet: other.refused === 0,
    },
  ];
}

const quantiles = (values: readonly number[]): number[] => [quantile(values, 0.5), quantile(values, 1)];

function deathOfExecutor(): Row {
  const [at, lease] = [300, 10];
  const owners = [owner("a", { rate: 40, steps: 3, stepTime: 0.2 })];
  const { runs } = run(
    { owners, executors: 4, slots: 16, order: "turns", death: { at, lease }, duration: 360 },
    "a",
  );
  const before = runs.filter((one) => one.at > at - 60 && one.at <= at).map(({ took }) => took);
  const after = runs.filter((one) => one.at > at && one.at <= at + 60).map(({ took }) => took);
  return {
    label: "runs in the minute after one of four executors died, p50",
    value: `${inMilliseconds(quantile(after, 0.5))}, longest ${inSeconds(quantile(after, 1))}`,
    baseline: `${inMilliseconds(quantile(before, 0.5))} before, lease ${lease} s`,
    ratio: formatFactor(quantile(after, 0.5) / quantile(before, 0.5)),
    goal: "≤ 1.50×",
    goalMet: quantile(after, 0.5) <= 1.5 * quantile(before, 0.5),
  };
}

/** How many slots ten million runs a day need, at the peak, by what their steps do. */
function sizing(): string {
  const rate = (PEAK * RUNS_OF_DAY) / SECONDS_OF_DAY;
  const kinds: [name: string, stepTime: number, executors: readonly number[]][] = [
    ["steps of 5 ms (expressions, small queries)", 0.005, [1, 2]],
    ["steps of 50 ms (queries, HTTP)", 0.05, [4, 5, 6, 8]],
    ["steps of 1 s (models)", 1, [80, 95, 110]],
  ];
  const rows = kinds.flatMap(([name, stepTime, counts]) =>
    counts.map((executors) => {
      const owners = Array.from({ length: 10 }, (_, index) =>
        owner(`owner ${index}`, { rate: rate / 10, steps: 3, stepTime }),
      );
      const scenario: Omit<Scenario, "seed"> = {
        owners,
        executors,
        slots: 16,
        order: "turns",
        commits: COMMITS,
        duration: 30,
      };
      const results = [...simulate({ ...scenario, seed: SEED }).values()];
      const waits = results.flatMap((result) => result.waits);
      const took = results.flatMap(({ runs }) => runs.map((one) => one.took));
      const started = results.reduce((sum, result) => sum + result.started, 0);
      const finished = results.reduce((sum, result) => sum + result.finished, 0);
      // The model begins empty, so at its end only what is running should be left.
      const isKeptUp = started - finished <= 1.25 * rate * 3 * (stepTime + COMMITS.time) + 50;
      return [
        name,
        String(executors),
        isKeptUp ? inMilliseconds(quantile(waits, 0.5)) : "the queue grows",
        isKeptUp ? inMilliseconds(quantile(waits, 0.99)) : "",
        isKeptUp ? inMilliseconds(quantile(took, 0.5)) : "",
      ];
    }),
  );
  return `${table(
    [
      "10 million runs a day of three steps, at 4 times the mean rate",
      "executors of 16 slots",
      "wait p50",
      "wait p99",
      "run p50",
    ],
    rows,
  )}\n\n${perSecond(rate)} runs, a database that makes ${COMMITS.parallel} commits of ${1_000 * COMMITS.time} ms at a time, seed ${SEED}.`;
}
