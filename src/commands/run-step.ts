/** `millrace run-step`: runs a single step from a file, without a workflow. */
import { readFileSync } from "node:fs";
import type { Run } from "../../schemas/run.ts";
import { formatPath } from "../core/issues.ts";
import { readYaml } from "../engine/definition/check/read-yaml.ts";
import { runStep } from "../../tools/runs/run-step.ts";
import { parseRunInputs } from "./inputs.ts";
import { fileProblem } from "./file-problem.ts";
import { CommandError, EXIT, type Io } from "./io.ts";
import { type RunHost, type RunOptions, startAndFollow } from "./run.ts";

export interface RunStepOptions extends Omit<RunOptions, "version"> {
  from: readonly string[];
  project?: string;
}

/** @throws CommandError as for `millrace run` */
export const runSingleStep = (io: Io, host: RunHost, file: string, options: RunStepOptions): Promise<void> =>
  startAndFollow(io, host, options, ({ call }) =>
    call<Run>(runStep, {
      step: readStep(io, file),
      inputs: parseRunInputs(options.input, options.inputsFile, null),
      from: Object.fromEntries(options.from.map(parseSource)),
      ...(options.project !== undefined && { project: options.project }),
      wait: 0,
    }),
  );

/** @param file a YAML or JSON file; `-` for standard input */
function readStep(io: Io, file: string): Record<string, unknown> {
  const source = file === "-" ? "standard input" : file;
  let text: string;
  try {
    text = readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    throw new CommandError(`${source} cannot be read: ${fileProblem(error)}.`, EXIT.usage);
  }
  const { value, issues, valueIssues, misread } = readYaml(text);
  for (const { path, message, fix } of misread) io.err(`${source}: ${formatPath(path)} ${message}. ${fix}\n`);
  const [issue] = [
    ...issues.map(({ message, line, column }) => `${line}:${column}: it ${message}`),
    ...valueIssues.map(
      ({ path, message, line, column }) => `${line}:${column}: ${formatPath(path)} ${message}`,
    ),
  ];
  if (issue !== undefined) throw new CommandError(`${source} cannot be read as YAML: ${issue}.`, EXIT.usage);
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new CommandError(
    `${source} must hold one step: its type and the fields of that type, without "steps".`,
    EXIT.usage,
  );
}

function parseSource(pair: string): [name: string, source: string] {
  const [, name, source] = /^([^=]+)=(.+)$/s.exec(pair) ?? [];
  if (name === undefined || source === undefined)
    throw new CommandError(
      `--from must be name=source, got ${pair}. Write for example --from rows=run_8dkq2m0sfj3a.rows.`,
      EXIT.usage,
    );
  return [name, source];
}
