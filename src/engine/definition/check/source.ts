/** Reads the source of a definition (an object, or YAML or JSON text) to a plain JSON value of limited size. */
import { Worker } from "node:worker_threads";
import { containsInfinity, exceedsDepth, MAX_JSON_DEPTH } from "../../../../schemas/text.ts";
import { type SourcePosition, readYaml, type ParsedYaml } from "./read-yaml.ts";
import type { Issue } from "../../../../schemas/problem.ts";
import { nextMessage } from "./worker-message.ts";
import { workerFile } from "./worker-file.ts";

/** Maximum size of a definition, in bytes of text. */
export const MAX_BYTES = 1024 * 1024;
/** Length up to which text is parsed on the calling thread, in characters: it takes a few milliseconds. */
const MAX_INLINE_LENGTH = 32 * 1024;
/** Timeout of the parsing thread, in milliseconds. */
const READ_MS = 10_000;

export interface Source {
  /** Plain JSON; undefined if the source could not be read. */
  value: unknown;
  issues: Issue[];
  /** Returns the positions of paths in the text; undefined if the source is an object. */
  locate?: (paths: readonly (readonly PropertyKey[])[]) => Promise<SourcePosition[]>;
  close(): void;
}

type Read = Pick<ParsedYaml, "value" | "issues"> & Pick<Source, "locate" | "close">;

const noop = (): void => undefined;

const unreadable = (code: string, message: string): Source => ({
  value: undefined,
  issues: [{ path: "", code, message }],
  close: noop,
});

const TOO_LARGE = `must be at most ${MAX_BYTES / 1024} KiB`;

export async function readSource(source: unknown): Promise<Source> {
  if (typeof source !== "string") return ofJson(source);
  if (source.length > MAX_BYTES || Buffer.byteLength(source) > MAX_BYTES)
    return unreadable("too_large", TOO_LARGE);
  const read = source.length <= MAX_INLINE_LENGTH ? readInline(source) : await readInWorker(source);
  const issues = read.issues.map((issue) => ({ path: "", ...issue }));
  if (issues.length > 0) return { ...read, value: undefined, issues };
  const issue = valueIssue(read.value);
  return issue === undefined
    ? { ...read, value: copyOf(read.value), issues }
    : { ...read, value: undefined, issues: [issue] };
}

function ofJson(source: unknown): Source {
  const issue = valueIssue(source);
  if (issue !== undefined) return { value: undefined, issues: [issue], close: noop };
  try {
    const text = JSON.stringify(source);
    if (Buffer.byteLength(text) > MAX_BYTES) return unreadable("too_large", TOO_LARGE);
    return { value: JSON.parse(text), issues: [], close: noop };
  } catch {
    return unreadable("wrong_type", "must be JSON");
  }
}

/** Copies a value: aliases share their nodes, and a value that is changed and stored must not. */
const copyOf = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** Checks what holds for every definition: it is an object, not nested too deep, and valid JSON. */
function valueIssue(value: unknown): Issue | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return {
      path: "",
      code: "wrong_type",
      message: "must be an object with steps",
      fix: "Begin with steps:.",
    };
  if (exceedsDepth(value, MAX_JSON_DEPTH))
    return { path: "", code: "too_deep", message: `must not be nested deeper than ${MAX_JSON_DEPTH} levels` };
  if (containsInfinity(value))
    return { path: "", code: "not_finite", message: "must not contain a number that JSON can't represent" };
  return containsKey(value, "__proto__")
    ? { path: "", code: "not_allowed", message: "must not contain a key named __proto__" }
    : undefined;
}

function containsKey(value: unknown, key: string): boolean {
  const queue: unknown[] = [value];
  while (queue.length > 0) {
    const next = queue.pop();
    if (typeof next !== "object" || next === null) continue;
    if (Object.hasOwn(next, key)) return true;
    for (const inner of Object.values(next))
      if (typeof inner === "object" && inner !== null) queue.push(inner);
  }
  return false;
}

function readInline(text: string): Read {
  const { value, issues, locate } = readYaml(text);
  return { value, issues, locate: (paths) => Promise.resolve(locate(paths)), close: noop };
}

async function readInWorker(text: string): Promise<Read> {
  const worker = new Worker(workerFile("yaml-worker"), {
    workerData: { text },
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 512 },
  });
  const close = (): void => void worker.terminate();
  try {
    const read = await nextMessage<Pick<ParsedYaml, "value" | "issues">>(worker, READ_MS);
    const locate: Source["locate"] = (paths) => {
      const positions = nextMessage<SourcePosition[]>(worker, READ_MS);
      worker.postMessage(paths, []);
      return positions;
    };
    return { ...read, locate, close };
  } catch (error) {
    close();
    const message = `could not be read: ${(error as Error).message}`;
    return { value: undefined, issues: [{ code: "invalid_yaml", message, line: 1, column: 1 }], close: noop };
  }
}
