/** Interruptions of runs: who sees them, and who may settle them. They are opened in the store, as if an executor had died. */
import { addInterruption } from "../interruption-records.ts";
import type { Company } from "./company.ts";
import { answerTo, seesRun } from "./conditions.ts";
import type { Interruption } from "./made.ts";
import type { Makers, Pick } from "./request.ts";
import { itemsOf } from "./things.ts";

export const INTERRUPTION_OPERATIONS: Makers = [
  [
    3,
    "list_interruptions",
    async (company, pick) => {
      const one = await chooseInterruption(company, pick);
      if (one === undefined) return undefined;
      const { id, run } = one;
      const { project } = run;
      return {
        operation: "list_interruptions",
        input: { project, run_id: run.id, status: "all" },
        expected: (actor) => answerTo(company, actor, "list_interruptions", { project }),
        check(actor, output) {
          const listed = itemsOf(output).map((item) => item.id);
          const wanted = seesRun(company, actor, run) ? id : "";
          return listed.join(" ") === wanted ? undefined : `listed: ${listed.join(" ")}, expected: ${wanted}`;
        },
      };
    },
  ],
  [
    3,
    "get_interruption",
    async (company, pick) => {
      const interruption = await chooseInterruption(company, pick);
      if (interruption === undefined) return undefined;
      return {
        operation: "get_interruption",
        input: { interruption_id: interruption.id },
        expected: (actor) => answerTo(company, actor, "get_interruption", { interruption }),
      };
    },
  ],
  [
    4,
    "settle_interruption",
    async (company, pick) => {
      const interruption = await chooseInterruption(company, pick);
      if (interruption === undefined) return undefined;
      return {
        operation: "settle_interruption",
        input: { interruption_id: interruption.id, outcome: "not_happened" },
        expected(actor) {
          const answer = answerTo(company, actor, "settle_interruption", { interruption });
          return answer === "ok" && interruption.isSettled ? "interruption_settled" : answer;
        },
        after() {
          interruption.isSettled = true;
        },
      };
    },
  ],
];

/** One that there is already, or one of a run that has none. */
async function chooseInterruption(company: Company, pick: Pick): Promise<Interruption | undefined> {
  const { interruptions, runs, instance } = company;
  const run = pick.one(runs.filter((one) => !interruptions.some((known) => known.run === one)));
  if (run === undefined || (interruptions.length > 0 && pick.chance(0.5))) return pick.one(interruptions);
  const opened = { id: await addInterruption(instance, run.id), run, isSettled: false };
  interruptions.push(opened);
  return opened;
}
