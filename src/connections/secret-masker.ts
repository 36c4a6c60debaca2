/** The secrets that the configuration names, masked in everything that connections return. */
import type { Config } from "../../schemas/config.ts";
import { lazy } from "../core/lazy.ts";
import { StepError } from "../core/step-errors.ts";
import { createMasker, type Masker } from "./masking.ts";

/**
 * Minimum lengths of what is masked, in characters: shorter texts would appear in unrelated ones. A variable of a program can
 * be a setting, such as `true`.
 */
const MIN_SECRET_LENGTH = 4;
const MIN_VARIABLE_LENGTH = 8;

/**
 * Creates the masker of an instance.
 * @param env environment variables, which hold the secrets
 */
export function secretMasker(
  config: Partial<Pick<Config, "databases" | "models" | "mcp_servers" | "secrets" | "authentication">>,
  env: Readonly<Record<string, string | undefined>>,
): Masker {
  const values = (variables: readonly (string | undefined)[]): string[] =>
    variables.flatMap((variable) => (variable === undefined ? [] : [env[variable] ?? ""]));
  const masker = lazy(() => {
    const { databases = [], models = [], mcp_servers: servers = [], secrets = [], authentication } = config;
    const others = [
      ...databases.map(({ password_var: variable }) => variable),
      ...models.map(({ key_var: variable }) => variable),
      ...servers.map(({ key_var: variable }) => variable),
      ...servers.flatMap(({ env: variables = {} }) => Object.values(variables)),
      authentication?.basic?.smtp_password_var,
    ];
    return createMasker([
      ...values(secrets.map(({ key_var: variable }) => variable)).filter(
        ({ length }) => length >= MIN_SECRET_LENGTH,
      ),
      ...values(others).filter(({ length }) => length >= MIN_VARIABLE_LENGTH),
    ]);
  });
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
