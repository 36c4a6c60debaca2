/** The values of the environment variables that hold secrets. A value can change while the process runs. */
import { describeVariable } from "./variables.ts";

export interface SecretSource {
  /** The current value of a variable; undefined while it has none. Cheap enough for every request. */
  get(variable: string): string | undefined;
  /** Why a variable has no value, as a clause. Null if it has one, or if it has not been read yet (`load`). */
  missingReason(variable: string): string | null;
  /** Resolves when the variables have been read once, with or without success. */
  load(variables: readonly string[]): Promise<void>;
  /** Reads variables again now, because their values were refused. */
  reread(variables: readonly string[]): Promise<void>;
  /** The values that a variable had earlier in this process. They are still masked. */
  formerValues(variable: string): readonly string[];
  /** A number that grows when a value changes. */
  revision(): number;
}

/** A source whose values never change, such as those of the environment. An empty value counts as not set. */
export const fixedSecrets = (values: Readonly<Record<string, string | undefined>>): SecretSource => ({
  get: (variable) => values[variable] || undefined,
  missingReason: (variable) => (values[variable] ? null : notSet(variable)),
  load: () => Promise.resolve(),
  reread: () => Promise.resolve(),
  formerValues: () => [],
  revision: () => 0,
});

/** The reason of a variable that nothing gives a value. */
export const notSet = (variable: string): string => `${describeVariable(variable)} is not set`;

interface RefusalOptions {
  /** Whether an error says that the secrets are not valid, and that nothing was done with them. */
  isRefusal(error: unknown): boolean;
  /** Ends waiting for new values. */
  signal?: AbortSignal | undefined;
}

/**
 * Does work that logs in with secrets. If they are refused and have been replaced meanwhile, does it once more, so that
 * nobody notices a rotation.
 * @param variables the variables that hold the secrets
 * @throws what the work throws
 */
export async function withSecrets<T>(
  source: SecretSource,
  variables: readonly string[],
  { isRefusal, signal }: RefusalOptions,
  work: () => Promise<T>,
): Promise<T> {
  if (variables.length === 0) return work();
  await source.load(variables);
  const used = valuesOf(source, variables);
  try {
    return await work();
  } catch (error) {
    if (!isRefusal(error) || !(await areReplaced(source, used, signal))) throw error;
    return await work();
  }
}

/** The current values of variables, to compare them later. */
export const valuesOf = (
  source: SecretSource,
  variables: readonly string[],
): ReadonlyMap<string, string | undefined> =>
  new Map(variables.map((variable) => [variable, source.get(variable)]));

/**
 * Reads variables again, because the values that were used have been refused.
 * @returns whether there are other values now; false if the signal is aborted first
 */
export async function areReplaced(
  source: SecretSource,
  used: ReadonlyMap<string, string | undefined>,
  signal?: AbortSignal,
): Promise<boolean> {
  await untilAborted(source.reread([...used.keys()]), signal);
  return !signal?.aborted && [...used].some(([variable, value]) => source.get(variable) !== value);
}

/** Resolves like the promise, or when the signal is aborted. */
function untilAborted(promise: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => resolve();
    if (signal.aborted) resolve();
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
