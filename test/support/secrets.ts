/** Secrets in files that a test replaces, with a clock of the test for the polls. */
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openSecrets, type Secrets } from "../../src/config/secrets.ts";
import { temporaryDirectory } from "./instance.ts";

export interface SecretFiles {
  secrets: Secrets;
  env: Record<string, string>;
  /** Replaces the file of a variable atomically. The next poll sees it: after `advance`, or after a refusal. */
  replace(variable: string, value: string): void;
  remove(variable: string): void;
  /** Advances the clock of the polls, in milliseconds. */
  advance(ms: number): void;
  path(variable: string): string;
}

export function secretFiles(values: Readonly<Record<string, string>>): SecretFiles {
  const directory = temporaryDirectory();
  const path = (variable: string): string => join(directory, variable);
  const replace = (variable: string, value: string): void => {
    writeFileSync(`${path(variable)}.new`, value);
    renameSync(`${path(variable)}.new`, path(variable));
  };
  for (const [variable, value] of Object.entries(values)) replace(variable, value);
  const names = Object.keys(values);
  const env = Object.fromEntries(names.map((name) => [`${name}_FILE`, path(name)]));
  let time = 0;
  const secrets = openSecrets(env, names, { now: () => time });
  onTestFinished(() => secrets.close());
  return {
    secrets,
    env,
    replace,
    remove: (variable) => rmSync(path(variable)),
    advance: (ms) => void (time += ms),
    path,
  };
}
