/** What the lists, the home page and a run cost as stored runs and workflows grow. */
import { join } from "node:path";
import { type Bench, copyState, rawHttpRequest, type Result } from "./support/bench.ts";
import { addTemplate, type Growth, growState, TEMPLATE_WORKFLOW } from "./support/grow-state.ts";
import { loopDelayEnvironment, loopDelays } from "./support/loop-delays.ts";
import { startMillrace } from "./support/program.ts";
import { formatFactor, milliseconds, type Row, table } from "./support/table.ts";

const MAX_SLOWDOWN = 1.5;
const SEARCH_GOAL_MS = 15;
const SCAN_GOAL_MS = 1_000;
/** What a request may take longer than with few rows whatever the ratio, in milliseconds: the error of the measurement. */
const TOLERANCE_MS = 0.5;
const DAY_MS = 86_400_000;

const since = new Date(Date.now() - DAY_MS).toISOString();

/** The lists of the interface, by the name in the table; those of a page are requested one after the other. */
const runLists = (workflow: string): Record<string, string[]> => ({
  runs: ["/runs?limit=50"],
  "failed runs": ["/runs?limit=50&status=failed"],
  "runs with one of two statuses": ["/runs?limit=50&status=failed,cancelled"],
  "unfinished runs": ["/runs?limit=50&status=queued,running,waiting"],
  "runs by trigger": ["/runs?limit=50&trigger=schedule"],
  "failed runs by trigger": ["/runs?limit=50&trigger=mcp&status=failed"],
  trials: ["/runs?limit=50&trial=true"],
  "search for a word that no run has": ["/runs?limit=50&search=zebra"],
  "groups of runs by workflow and day": ["/runs/groups?group_by=workflow_id,day&max_groups=1000"],
  "groups of runs by output": ["/runs/groups?group_by=version,output"],
  "runs of a workflow": [`/runs?limit=50&workflow_id=${workflow}`],
  "cancelled runs of a workflow": [`/runs?limit=50&workflow_id=${workflow}&status=cancelled`],
  "runs of a project by status": ["/runs?limit=50&project=default&status=succeeded"],
  "the home page": [
    "/runs?limit=6",
    `/runs?limit=6&status=failed&trial=false&since=${since}`,
    "/runs?limit=6&status=queued,running,waiting",
    `/runs?limit=6&status=succeeded&since=${since}`,
    "/approvals?limit=6&status=pending",
    "/schedules?limit=6",
    "/workflows?limit=3",
  ],
});

const workflowLists: Record<string, string[]> = {
  "GET /workflows?limit=100": ["/workflows?limit=100"],
  "workflows by tag": ["/workflows?limit=50&tag=team-7"],
  "workflows by a frequent tag": ["/workflows?limit=50&tag=finance"],
  "search for a rare word": ["/workflows?limit=50&search=000007"],
  "search for a frequent word": ["/workflows?limit=50&search=workflow"],
  "search for a missing word": ["/workflows?limit=50&search=zebra"],
  "search for two characters": ["/workflows?limit=50&search=q9"],
};

/** Time and processor time of a request, in milliseconds. */
interface Cost {
  ms: number;
  cpu: number;
}

/** The cost of each list, and of a run, with a grown state. */
async function measure(
  bench: Bench,
  template: string,
  name: string,
  added: Growth,
  lists: Record<string, string[]>,
) {
  const { directory, generator, roundOptions, seed } = bench;
  const stateDir = copyState(seed, directory, `growth-${name}`);
  growState(stateDir, template, added);
  const delays = join(directory, `growth-${name}`, "delays");
  const program = await startMillrace("serve", stateDir, loopDelayEnvironment(delays));
  try {
    const load = async (method: string, path: string, body = "", ms = roundOptions.ms): Promise<Cost> => {
      const request = rawHttpRequest(method, path, { "X-API-Key": seed.key }, body);
      const target = { name: path, program, request, status: 200 };
      await generator.load(target, 1, ms / 2);
      const { p50, cpuUs } = await generator.load(target, 1, ms);
      return { ms: p50, cpu: cpuUs / 1_000 };
    };
    const costs = new Map<string, Cost>();
    costs.set(
      "a run of three steps",
      await load("POST", `/workflows/${TEMPLATE_WORKFLOW}/runs`, JSON.stringify({ wait: 10 })),
    );
    await loopDelays(program, delays);
    for (const [label, paths] of Object.entries(lists)) {
      const parts: Cost[] = [];
      for (const path of paths) parts.push(await load("GET", path));
      const sum = (of: (cost: Cost) => number): number => parts.reduce((total, part) => total + of(part), 0);
      costs.set(label, { ms: sum(({ ms }) => ms), cpu: sum(({ cpu }) => cpu) });
    }
    return { costs, delays: await loopDelays(program, delays) };
  } finally {
    await program.stop();
  }
}

/** A request that reads many runs reads a bounded number of them, however many are stored. */
const limitOfRuns = (label: string, first: number): number =>
  label.startsWith("search") || label.startsWith("groups") ? SCAN_GOAL_MS : slowdown(label, first);

const slowdown = (_label: string, first: number): number => first * MAX_SLOWDOWN + TOLERANCE_MS;

export async function growth(bench: Bench): Promise<Result> {
  const { quick, directory } = bench;
  const seed = { ...bench.seed, stateDir: copyState(bench.seed, directory, "growth-seed") };
  const grown = { ...bench, seed };
  const template = await addTemplate(seed);
  const sizes = quick ? [400, 100_000] : [400, 100_000, 1_000_000];
  const rows: Row[] = [];
  const details: string[] = [];
  const compare = async (
    what: "runs" | "workflows",
    counts: readonly number[],
    lists: Record<string, string[]>,
    limitOf: (label: string, first: number) => number,
  ): Promise<void> => {
    const measured: Awaited<ReturnType<typeof measure>>[] = [];
    for (const count of counts)
      measured.push(await measure(grown, template, `${what}-${count}`, { [what]: count }, lists));
    const of = (index: number, label: string): Cost => measured.at(index)!.costs.get(label)!;
    for (const label of measured[0]!.costs.keys()) {
      const [first, last] = [of(0, label), of(-1, label)];
      const limit = limitOf(label, first.ms);
      rows.push({
        label: `${label}, ${counts.at(-1)!.toLocaleString("en")} ${what}`,
        value: milliseconds(last.ms),
        baseline: `${milliseconds(first.ms)} with ${counts[0]}`,
        ratio: `${formatFactor(last.ms / first.ms)} (CPU ${formatFactor(last.cpu / first.cpu)})`,
        goal: `≤ ${milliseconds(limit)}`,
        goalMet: last.ms <= limit,
      });
    }
    details.push(
      table(
        [`stored ${what}`, "time, processor time", ...counts.map((count) => count.toLocaleString("en"))],
        [...measured[0]!.costs.keys()].map((label) =>
          ["", label].concat(
            measured.map(
              ({ costs }) => `${milliseconds(costs.get(label)!.ms)}, ${milliseconds(costs.get(label)!.cpu)}`,
            ),
          ),
        ),
      ),
      table(
        ["event loop", "process", "longest delay", "p99"],
        measured.flatMap(({ delays }, index) =>
          delays.map(({ command, max, p99 }) => [
            `${counts[index]!.toLocaleString("en")} ${what}`,
            command,
            milliseconds(max),
            milliseconds(p99),
          ]),
        ),
      ),
    );
  };
  await compare("runs", sizes, runLists(seed.id), limitOfRuns);
  await compare("workflows", [400, 100_000], workflowLists, (label, first) =>
    label.startsWith("search") || label.includes("tag") ? SEARCH_GOAL_MS : slowdown(label, first),
  );
  return { rows, details: details.join("\n\n") };
}
