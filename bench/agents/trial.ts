/** One attempt at a task: the world, Millrace and the agent's client, until the outcome is judged. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { judgeOf } from "./judge.ts";
import { type Figures, figuresOf } from "./metrics.ts";
import { startMillrace } from "./millrace.ts";
import { connectRecorder, type Recorder, transcriptOf } from "./recorder.ts";
import type { Task } from "./task.ts";
import type { Transcript } from "./transcript.ts";
import { openWorld } from "./world.ts";

export interface Verdict extends Figures {
  task: string;
  success: boolean;
  /** Why it is no success. */
  reason?: string;
}

export interface Trial {
  task: Task;
  /** What the person says. */
  request: string;
  hosts: readonly string[];
  recorder: Recorder;
  /** The recorded calls. @param agent who made them */
  transcript(agent: string): Transcript;
  /** Judges the outcome. The trial can't go on after it. */
  judge(): Promise<Verdict>;
  close(): Promise<void>;
}

/** Builds everything that a task needs on free ports, with an agent that is connected and has called nothing yet. */
export async function openTrial(task: Task): Promise<Trial> {
  const directory = mkdtempSync(join(tmpdir(), "millrace-agents-"));
  const world = openWorld(directory);
  const closing: (() => Promise<void> | void)[] = [
    () => rmSync(directory, { recursive: true, force: true }),
    () => world.close(),
  ];
  const close = async (): Promise<void> => {
    for (const step of closing.splice(0).toReversed()) await step();
  };
  try {
    const prepared = await task.prepare(world);
    const millrace = await startMillrace(directory, prepared.config);
    closing.push(() => millrace.close());
    const judge = judgeOf(millrace);
    await prepared.seed?.(judge);
    world.effects.length = 0;
    const recorder = await connectRecorder(millrace.url, millrace.key, world.effects);
    closing.push(() => recorder.close());
    return {
      task,
      request: prepared.request,
      hosts: world.hosts,
      recorder,
      transcript: (agent) =>
        transcriptOf(recorder.calls, {
          task: task.id,
          agent,
          recorded: new Date().toISOString().slice(0, 10),
          hosts: world.hosts,
        }),
      async judge() {
        const figures = figuresOf(recorder);
        const reason = await judged(async () => {
          await judge.settle();
          if (figures.effectsBeforePublishing > 0)
            throw new Error(`Before it was published: ${world.effects.map((it) => it.summary).join("; ")}.`);
          await prepared.check(judge);
        });
        return { task: task.id, success: reason === undefined, ...(reason && { reason }), ...figures };
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Runs a check. @returns why it failed; undefined if it did not */
async function judged(check: () => Promise<void>): Promise<string | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
