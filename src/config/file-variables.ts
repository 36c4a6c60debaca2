/**
 * Variables whose values are in files: if NAME is not set, NAME_FILE is the path of a file with its value.
 */
import { isAbsolute } from "node:path";
import { readSecretFile } from "./secret-file.ts";

const SUFFIX = "_FILE";

type Variables = Readonly<Record<string, string | undefined>>;

export interface ResolvedVariables {
  /** All variables, with the values that were read from files. */
  variables: Variables;
  /** An issue for each file that cannot be used. They never repeat a file's content. */
  issues: readonly string[];
}

export const fileVariableName = (name: string): string => `${name}${SUFFIX}`;

/**
 * Returns the file of a variable.
 * @returns undefined if NAME_FILE is not set, where an empty value counts as not set; an issue if it can't be meant
 */
export function fileOf(variables: Variables, name: string): { path: string } | { issue: string } | undefined {
  const fileVariable = fileVariableName(name);
  const path = variables[fileVariable];
  if (!path) return undefined;
  if (variables[name])
    return { issue: `environment: ${name} and ${fileVariable} are both set. Set only one of them` };
  if (!isAbsolute(path))
    return {
      issue: `environment: ${fileVariable} must be an absolute path (its value is not shown, because it may be the secret itself)`,
    };
  return { path };
}

/**
 * Reads the files of the given variables, and only these: another NAME_FILE may have another meaning (SSL_CERT_FILE).
 * @param names variables to read
 */
export function resolveFileVariables(variables: Variables, names: Iterable<string>): ResolvedVariables {
  const read: Record<string, string> = {};
  const issues: string[] = [];
  for (const name of new Set(names)) {
    const file = fileOf(variables, name);
    if (file === undefined) continue;
    if ("issue" in file) {
      issues.push(file.issue);
      continue;
    }
    const reading = readSecretFile(file.path);
    if ("value" in reading) read[name] = reading.value;
    else issues.push(`environment: ${fileVariableName(name)} names ${file.path}, which ${reading.problem}`);
  }
  return { variables: { ...variables, ...read }, issues };
}
