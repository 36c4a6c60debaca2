/** The text of a definition that a command is given. */
import { readFileSync } from "node:fs";
import type { BaseText, CheckReport } from "../core/engine-port.ts";
import { fileProblem } from "./file-problem.ts";
import { CommandError, EXIT, issueLine } from "./io.ts";
import { OPERATOR_ACTOR, type Operator } from "./operator.ts";

/** @param file a path; `-` for standard input. @throws CommandError when it cannot be read */
export function readText(file: string): string {
  try {
    return readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${fileProblem(error)}.`, EXIT.usage);
  }
}

/**
 * Checks a definition, which may have the fields of a workflow file (id, name, description, tags).
 * @param source names the text in the message
 * @param selfId the workflow that gets the definition; left out for a new one
 * @param baseText the text that it changes
 * @returns the definition with its issues, and its text without the fields of a file
 * @throws CommandError when the text is no definition at all
 */
export async function checkText(
  { services: { engine } }: Pick<Operator, "services">,
  text: string,
  source: string,
  project = "default",
  selfId?: string,
  baseText: BaseText | null = null,
): Promise<CheckReport & { definition: NonNullable<CheckReport["definition"]> }> {
  const report = await engine.check(text, {
    project,
    checkConnections: true,
    allowFileFields: true,
    baseText,
    owner: OPERATOR_ACTOR.principal.lineage,
    signal: new AbortController().signal,
    ...(selfId !== undefined && { selfId }),
  });
  const { definition } = report;
  if (definition !== null) return { ...report, definition };
  throw new CommandError(
    [
      `${source} can't be read as a definition:`,
      ...report.errors.map((issue) => `- ${issueLine(issue)}`),
    ].join("\n"),
  );
}
