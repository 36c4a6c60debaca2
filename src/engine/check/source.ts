/** From what somebody handed in (an object, or YAML or JSON text) to a plain JSON value with bounds. */
import { Worker } from "node:worker_threads";
import { holdsInfinity, isDeeperThan, MAX_JSON_DEPTH } from "../../../schemas/text.ts";
import { type Position, readYaml, type ReadText } from "./read-yaml.ts";
import type { Fault } from "../../../schemas/problem.ts";
import { answer } from "./answer.ts";
import { workerFile } from "./worker-file.ts";

/** The largest definition, as text. */
export const MAX_BYTES = 1024 * 1024;
/** Text up to this is read at once, in a few milliseconds. */
const SHORT = 32 * 1024;
const READ_MS = 10_000;

export interface Source {
  /** Plain JSON; undefined where it can't be read. */
  value: unknown;
  faults: Fault[];
  /** The places of paths in the text; undefined where there is no text. */
  locate?: (paths: readonly (readonly PropertyKey[])[]) => Promise<Position[]>;
  close(): void;
}

type Read = Pick<ReadText, "value" | "faults"> & Pick<Source, "locate" | "close">;

const idle = (): void => undefined;

const broken = (code: string, message: string): Source => ({
  value: undefined,
  faults: [{ path: "", code, message }],
  close: idle,
});

const TOO_LARGE = `is larger than ${MAX_BYTES / 1024} KiB`;

export async function readSource(source: unknown): Promise<Source> {
  if (typeof source !== "string") return ofJson(source);
  if (source.length > MAX_BYTES || Buffer.byteLength(source) > MAX_BYTES)
    return broken("too_large", TOO_LARGE);
  const read = source.length <= SHORT ? readHere(source) : await readElsewhere(source);
  const faults = read.faults.map((fault) => ({ path: "", ...fault }));
  if (faults.length > 0) return { ...read, value: undefined, faults };
  const wrong = unfit(read.value);
  return wrong === undefined
    ? { ...read, value: detached(read.value), faults }
    : { ...read, value: undefined, faults: [wrong] };
}

function ofJson(source: unknown): Source {
  const wrong = unfit(source);
  if (wrong !== undefined) return { value: undefined, faults: [wrong], close: idle };
  try {
    const text = JSON.stringify(source);
    if (Buffer.byteLength(text) > MAX_BYTES) return broken("too_large", TOO_LARGE);
    return { value: JSON.parse(text), faults: [], close: idle };
  } catch {
    return broken("wrong_type", "must be JSON");
  }
}

/** Aliases share what they stand for; nothing may be shared in a value that is changed and stored. */
const detached = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** Why a value can't be a definition, whatever is in it. */
function unfit(value: unknown): Fault | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return {
      path: "",
      code: "wrong_type",
      message: "must be an object with steps",
      fix: "Begin with steps:.",
    };
  if (isDeeperThan(value, MAX_JSON_DEPTH))
    return { path: "", code: "too_deep", message: `must not be nested deeper than ${MAX_JSON_DEPTH} levels` };
  if (holdsInfinity(value))
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
  const { value, faults, locate } = readYaml(text);
  return { value, faults, locate: (paths) => Promise.resolve(locate(paths)), close: idle };
}

async function readElsewhere(text: string): Promise<Read> {
  const worker = new Worker(workerFile("yaml-worker"), {
    workerData: { text },
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 512 },
  });
  const close = (): void => void worker.terminate();
  try {
    const read = await answer<Pick<ReadText, "value" | "faults">>(worker, READ_MS);
    const locate: Source["locate"] = (paths) => {
      const positions = answer<Position[]>(worker, READ_MS);
      worker.postMessage(paths, []);
      return positions;
    };
    return { ...read, locate, close };
  } catch (error) {
    close();
    const message = `can't be read: ${(error as Error).message}`;
    return { value: undefined, faults: [{ code: "invalid_yaml", message, line: 1, column: 1 }], close: idle };
  }
}
