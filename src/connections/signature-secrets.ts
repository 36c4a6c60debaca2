/** The secrets with which the signatures of webhooks are checked. They are those that workflows can use by name. */
import { nearMatch } from "../core/near-match.ts";
import type { SecretSource } from "../core/secret-source.ts";
import { StepError } from "../core/step-errors.ts";
import { CORRECT_ENTRY, unusableNames } from "../core/unusable-entries.ts";
import { type ConnectionConfig, missingFix } from "./limit-config.ts";

/** @param source the values, which can change */
export function signatureSecrets(
  config: Pick<ConnectionConfig, "secrets" | "unusable" | "isLimited">,
  source: SecretSource,
): (names: readonly string[]) => Promise<string[]> {
  const variables = new Map(config.secrets.map(({ name, key_var: variable }) => [name, variable]));
  const unusable = unusableNames(config, "secrets");

  function variableOf(name: string): string {
    const broken = unusable.find((other) => other.name === name);
    if (broken !== undefined) throw failed(name, `can't be used: ${broken.reason}`, CORRECT_ENTRY);
    const variable = variables.get(name);
    if (variable !== undefined) return variable;
    const near = nearMatch(name, [...variables.keys()]);
    const fix = near === undefined ? "Ask the operator to add it to secrets." : `Write ${near}.`;
    throw failed(name, "is not the name of a secret in the configuration", missingFix(config, fix));
  }

  function valueOf(name: string, variable: string): string {
    const value = source.get(variable);
    if (value !== undefined) return value;
    const reason = source.missingReason(variable) ?? "its variable is empty";
    throw failed(name, `has no value: ${reason}`, "Ask the operator to set the variable of its key_var.");
  }

  return async (names) => {
    const failures: unknown[] = [];
    const succeeding = <T, R>(items: readonly T[], get: (item: T) => R): R[] =>
      items.flatMap((item) => {
        try {
          return [get(item)];
        } catch (error) {
          failures.push(error);
          return [];
        }
      });
    const used = succeeding(names, (name) => ({ name, variable: variableOf(name) }));
    await source.load(used.map(({ variable }) => variable));
    const values = succeeding(used, ({ name, variable }) => valueOf(name, variable));
    // While a secret is replaced, one of the two may be missing.
    if (values.length === 0) throw failures[0];
    return values;
  };
}

const failed = (name: string, reason: string, fix: string): StepError =>
  new StepError("environment", `The secret "${name.slice(0, 100)}" ${reason}.`, { fix });
