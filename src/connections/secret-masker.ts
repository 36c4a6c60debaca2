/** The secrets that the configuration names, masked in everything that connections return. */
import type { SecretSource } from "../core/secret-source.ts";
import { namedVariables } from "../core/secret-variables.ts";
import { StepError } from "../core/step-errors.ts";
import { createMasker, type Masker } from "./masking.ts";

/**
 * Minimum lengths of what is masked, in characters: shorter texts would appear in unrelated ones. A variable of a program can
 * be a setting, such as `true`.
 */
const MIN_SECRET_LENGTH = 4;
const MIN_VARIABLE_LENGTH = 8;

/**
 * Creates the masker of an instance. It also finds the values that the secrets had earlier in this process, because a server
 * or a run may still repeat one.
 * @param secrets the values, which can change
 * @param others texts that are masked too
 */
export function secretMasker(
  config: Parameters<typeof namedVariables>[0],
  secrets: Pick<SecretSource, "get" | "formerValues" | "revision">,
  others: readonly string[] = [],
): Masker {
  const variables = namedVariables(config);
  let current: { revision: number; masker: Masker } | undefined;

  function masker(): Masker {
    const revision = secrets.revision();
    if (current?.revision !== revision)
      current = { revision, masker: createMasker([...variables.flatMap(masked), ...others]) };
    return current.masker;
  }

  function masked({ variable, kind }: (typeof variables)[number]): string[] {
    const shortest = kind === "secret" ? MIN_SECRET_LENGTH : MIN_VARIABLE_LENGTH;
    return [secrets.get(variable) ?? "", ...secrets.formerValues(variable)].filter(
      ({ length }) => length >= shortest,
    );
  }

  return {
    text: (text) => masker().text(text),
    json: (value) => masker().json(value),
    secrets: () => masker().secrets(),
  };
}

/** Masks secrets in an error, whose details may contain what a server sent. */
export const maskedError = (error: StepError, mask: Masker): StepError =>
  new StepError(error.code, mask.text(error.message), {
    ...error.options,
    ...(error.options.details !== undefined && {
      details: mask.json(error.options.details) as Record<string, unknown>,
    }),
  });
