/** What a task of the benchmark consists of. */
import type { z } from "zod";
import type { Config } from "../../schemas/config.ts";
import type { Judge } from "./judge.ts";
import type { World } from "./world.ts";

export interface Task {
  /** Kebab-case; also the name of its transcript. */
  id: string;
  /** What it is about, for the table of results. */
  subject: string;
  /** Builds databases and services. */
  prepare(world: World): PreparedTask | Promise<PreparedTask>;
}

interface PreparedTask {
  /** What the person says. */
  request: string;
  config: z.input<typeof Config>;
  /** Creates what exists before the agent comes. */
  seed?(judge: Judge): Promise<void>;
  /** Judges the outcome. Throws an error that says what is wrong. */
  check(judge: Judge): Promise<void>;
}
