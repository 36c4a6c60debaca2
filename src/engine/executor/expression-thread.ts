/** The thread that evaluates expressions which need more work than the event loop has time for. */
import { LRUCache } from "lru-cache";
import { type Ask, serveThread } from "../../core/serve-thread.ts";
import { StepError } from "../../core/step-errors.ts";
import { type Compiled, compileOrigin, ExpressionError } from "../definition/expressions/index.ts";
import { parseSent, type ScopePart, scopeOf } from "./scope-transfer.ts";

export interface EvaluationTask {
  /** The `origin` of the compiled expression. */
  origin: string;
  parts: readonly ScopePart[];
}

export type EvaluationResult =
  | {
      /** JSON text. */
      value: string;
      cost: number;
    }
  | { error: Pick<ExpressionError, "code" | "message" | "summary" | "options"> };

/** Maximum size of the compiled expressions that are kept, in characters of their sources. */
const MAX_COMPILED_LENGTH = 4_000_000;
/** Maximum size of the values that are kept, in characters of JSON. */
const MAX_VALUES_LENGTH = 32_000_000;

const compiled = new LRUCache<string, Compiled>({
  maxSize: MAX_COMPILED_LENGTH,
  sizeCalculation: (_, origin) => origin.length,
});
const values = new LRUCache<number, { value: unknown; length: number }>({
  maxSize: MAX_VALUES_LENGTH,
  sizeCalculation: ({ length }) => length,
});

function compileOnce(origin: string): Compiled {
  const known = compiled.get(origin);
  if (known !== undefined) return known;
  const made = compileOrigin(origin);
  compiled.set(origin, made);
  return made;
}

/** Returns the objects of the parts, by key. */
async function objectsOf(parts: readonly ScopePart[], ask: Ask): Promise<Map<number, unknown>> {
  const objects = new Map<number, unknown>();
  for (const { key } of parts) {
    if (key === undefined || objects.has(key)) continue;
    let known = values.get(key);
    if (known === undefined) {
      const text = (await ask(key)) as string;
      known = { value: parseSent(text), length: text.length };
      values.set(key, known);
    }
    objects.set(key, known.value);
  }
  return objects;
}

serveThread(async ({ origin, parts }: EvaluationTask, ask, interruption): Promise<EvaluationResult> => {
  const scope = scopeOf(parts, await objectsOf(parts, ask));
  try {
    const { value, cost } = compileOnce(origin).measure(scope, undefined, interruption.throwIfInterrupted);
    return { value: JSON.stringify(value), cost };
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    const { code, message, options } = error;
    return {
      error: { code, message, options, summary: error instanceof ExpressionError ? error.summary : message },
    };
  }
});
