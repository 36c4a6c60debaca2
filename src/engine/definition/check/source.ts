/** From what somebody handed in (an object, or YAML or JSON text) to a plain JSON value with bounds. */
import { Worker } from "node:worker_threads";
import { containsInfinity, exceedsDepth, MAX_JSON_DEPTH } from "../../../../schemas/text.ts";
import { type SourcePosition, readYaml, type ParsedYaml } from "./read-yaml.ts";
import type { Issue } from "../../../../schemas/problem.ts";
import { nextMessage } from "./worker-message.ts";
import { workerFile } from "./worker-file.ts";

/** The largest definition, as text. */
export const MAX_BYTES = 1024 * 1024;
/** Text up to this is read at once, in a few milliseconds. */
const SHORT = 32 * 1024;
const READ_MS = 10_000;

export interface Source {
  /** Plain JSON; undefined where it can't be read. */
  value: unknown;
  issues: Issue[];
  /** The places of paths in the text; undefined where there is no text. */
  locate?: (paths: readonly (readonly PropertyKey[])[]) => Promise<SourcePosition[]>;
  close(): void;
}

type Read = Pick<ParsedYaml, "value" | "issues"> & Pick<Source, "locate" | "close">;

const idle = (): void => undefined;

const broken = (code: string, message: string): Source => ({
  value: undefined,
  issues: [{ path: "", code, message }],
  close: idle,
});

const TOO_LARGE = `is larger than ${MAX_BYTES / 1024} KiB`;

export async function readSource(source: unknown): Promise<Source> {
  if (typeof source !== "string") return ofJson(source);
  if (source.length > MAX_BYTES || Buffer.byteLength(source) > MAX_BYTES)
    return broken("too_large", TOO_LARGE);
  const read = source.length <= SHORT ? readHere(source) : await readElsewhere(source);
  const issues = read.issues.map((issue) => ({ path: "", ...issue }));
  if (issues.length > 0) return { ...read, value: undefined, issues };
  const wrong = unfit(read.value);
  return wrong === undefined
    ? { ...read, value: detached(read.value), issues }
    : { ...read, value: undefined, issues: [wrong] };
}

function ofJson(source: unknown): Source {
  const wrong = unfit(source);
  if (wrong !== undefined) return { value: undefined, issues: [wrong], close: idle };
  try {
    const text = JSON.stringify(source);
    if (Buffer.byteLength(text) > MAX_BYTES) return broken("too_large", TOO_LARGE);
    return { value: JSON.parse(text), issues: [], close: idle };
  } catch {
    return broken("wrong_type", "must be JSON");
  }
}

/** Aliases share what they stand for; nothing may be shared in a value that is changed and stored. */
const detached = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** Why a value can't be a definition, whatever is in it. */
function unfit(value: unknown): Issue | undefined {
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
    return { path: "", code: "not_finite", message: "must not hold a number that JSON can't write" };
  return holdsKey(value, "__proto__")
    ? { path: "", code: "not_allowed", message: "must not hold a key called __proto__" }
    : undefined;
}

function holdsKey(value: unknown, key: string): boolean {
  const left: unknown[] = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next !== "object" || next === null) continue;
    if (Object.hasOwn(next, key)) return true;
    for (const inner of Object.values(next))
      if (typeof inner === "object" && inner !== null) left.push(inner);
  }
  return false;
}

function readHere(text: string): Read {
  const { value, issues, locate } = readYaml(text);
  return { value, issues, locate: (paths) => Promise.resolve(locate(paths)), close: idle };
}

async function readElsewhere(text: string): Promise<Read> {
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
    const message = `can't be read: ${(error as Error).message}`;
    return { value: undefined, issues: [{ code: "invalid_yaml", message, line: 1, column: 1 }], close: idle };
  }
}
