/** Reads an export line by line, and checks each line against the schema of its kind. */
import { createReadStream } from "node:fs";
import { issuesOf } from "../../core/issues.ts";
import { nearMatch } from "../../core/near-match.ts";
import { exceedsDepth, MAX_JSON_DEPTH } from "../../../schemas/text.ts";
import { fileProblem } from "../file-problem.ts";
import { CommandError, EXIT } from "../io.ts";
import { FORMAT_VERSION, type Line, LINE_SCHEMAS } from "./format.ts";

/** Maximum length of a line, in bytes. Values of runs may be large, but no export writes a longer line. */
const MAX_LINE_BYTES = 64 * 1024 ** 2;
const LF = 10;
/** Maximum nesting: that of a value, and the levels of the line around it. */
const MAX_DEPTH = MAX_JSON_DEPTH + 8;

export interface NumberedLine {
  number: number;
  /** Undefined if the line has issues. */
  line?: Line;
  /** Messages without file and line. */
  issues: string[];
}

/**
 * @throws CommandError if the file cannot be read, is not an export, or was written by a newer release
 */
export async function* readLines(file: string): AsyncGenerator<NumberedLine> {
  let number = 0;
  for await (const text of splitLines(file)) {
    number += 1;
    const read = readLine(text);
    if (number === 1) expectHead(file, read.line);
    yield { number, ...read };
  }
  if (number === 0) throw new CommandError(`${file} is empty. Export it again.`);
}

function expectHead(file: string, line: Line | undefined): void {
  if (line?.kind !== "millrace_export")
    throw new CommandError(
      `${file}:1: this file was not written by millrace export: its first line must have the kind millrace_export.`,
    );
  if (line.format > FORMAT_VERSION)
    throw new CommandError(
      `${file}:1: the file has format ${line.format} (release ${line.release}), but this release reads formats up to ${FORMAT_VERSION}. ` +
        "Import it with that release or a newer one.",
    );
}

function readLine(text: string): Omit<NumberedLine, "number"> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { issues: ["the line is not valid JSON. Export the file again, or undo the change in this line"] };
  }
  if (exceedsDepth(value, MAX_DEPTH))
    return { issues: [`the line is nested deeper than ${MAX_DEPTH} levels`] };
  const kind = (value as { kind?: unknown } | null)?.kind;
  const kinds = Object.keys(LINE_SCHEMAS);
  if (typeof kind !== "string" || !kinds.includes(kind)) {
    const near = typeof kind === "string" ? nearMatch(kind, kinds) : undefined;
    return {
      issues: [
        `kind must be one of ${kinds.join(", ")}${near === undefined ? "" : `; did you mean ${near}?`}`,
      ],
    };
  }
  const schema = LINE_SCHEMAS[kind as Line["kind"]];
  const parsed = schema.safeParse(value, { reportInput: true });
  if (parsed.success) return { line: parsed.data, issues: [] };
  return {
    issues: issuesOf(parsed.error, schema).map(
      ({ path, message, did_you_mean: near }) =>
        `${path} ${message}${near === undefined ? "" : `; did you mean ${near}?`}`,
    ),
  };
}

/** @throws CommandError if the file cannot be read, is not UTF-8, or has a line that is too long */
async function* splitLines(file: string): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const textOf = (parts: readonly Buffer[]): string => {
    try {
      return decoder.decode(Buffer.concat(parts));
    } catch {
      throw new CommandError(`${file} is not UTF-8 text, so it was not written by millrace export.`);
    }
  };
  let parts: Buffer[] = [];
  let length = 0;
  const add = (part: Buffer): void => {
    parts.push(part);
    length += part.length;
    if (length > MAX_LINE_BYTES)
      throw new CommandError(
        `${file} has a line of more than ${MAX_LINE_BYTES / 1024 ** 2} MiB. Export it again.`,
      );
  };
  try {
    for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
      let from = 0;
      for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, from)) {
        add(chunk.subarray(from, end));
        yield textOf(parts);
        [parts, length, from] = [[], 0, end + 1];
      }
      if (from < chunk.length) add(chunk.subarray(from));
    }
  } catch (error) {
    if (typeof (error as NodeJS.ErrnoException).code !== "string") throw error;
    throw new CommandError(`${file} cannot be read: ${fileProblem(error)}.`, EXIT.usage);
  }
  if (length > 0) yield textOf(parts);
}
