/**
 * `npm run bench:agents`: replays the recorded transcripts, or lets a model solve the tasks, and judges the outcomes.
 * `-- --model URL --name NAME` drives a model; its API key is read from the variable MODEL_API_KEY.
 */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { letModelSolve } from "./model-agent.ts";
import { replay } from "./replay.ts";
import type { Task } from "./task.ts";
import { tasks } from "./tasks/index.ts";
import { readTranscript } from "./transcript.ts";
import { openTrial, type Trial, type Verdict } from "./trial.ts";
import { formatVerdict, formatVerdicts } from "./verdict.ts";

const RECORDED = fileURLToPath(new URL("transcripts/", import.meta.url));

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true },
    transcript: { type: "string", multiple: true },
    model: { type: "string" },
    name: { type: "string" },
    record: { type: "string" },
  },
});
const { only, transcript: files, model: url, name, record } = values;

/** Solves a task in one way, and judges the outcome. */
async function attempt(task: Task, solve: (trial: Trial) => Promise<void>, agent: string): Promise<Verdict> {
  const trial = await openTrial(task);
  try {
    let failure: Error | undefined;
    await solve(trial).catch((error: Error) => (failure = error));
    if (record !== undefined) {
      mkdirSync(record, { recursive: true });
      writeFileSync(join(record, `${task.id}.json`), `${JSON.stringify(trial.transcript(agent), null, 2)}\n`);
    }
    const verdict = await trial.judge();
    // What stopped the agent says more than what is missing because of it.
    return failure === undefined || verdict.success
      ? verdict
      : { ...verdict, reason: `${failure.message} ${verdict.reason}` };
  } finally {
    await trial.close();
  }
}

const isChosen = ({ id }: Task): boolean => only === undefined || only.includes(id);
const verdicts: Verdict[] = [];
const report = (verdict: Verdict): void => {
  verdicts.push(verdict);
  console.log(`${formatVerdict(verdict)}\n`);
};

if (url !== undefined) {
  const options = { url, name: name ?? "default", key: process.env["MODEL_API_KEY"] };
  for (const task of tasks.filter(isChosen))
    report(await attempt(task, (trial) => letModelSolve(trial, options), options.name));
} else {
  const recorded = existsSync(RECORDED) ? readdirSync(RECORDED).filter((file) => file.endsWith(".json")) : [];
  for (const file of files ?? recorded.map((each) => join(RECORDED, each))) {
    const transcript = readTranscript(file);
    const task = tasks.find(({ id }) => id === transcript.task);
    if (task === undefined) throw new Error(`${file} is about an unknown task, ${transcript.task}.`);
    if (isChosen(task)) report(await attempt(task, (trial) => replay(trial, transcript), transcript.agent));
  }
}
if (verdicts.length > 0) console.log(formatVerdicts(verdicts));
else console.log("There is nothing to replay. Give --model URL --name NAME, or --transcript FILE.");
