/** Which of the server's faults belong to which field: each is handed down along its path, and none gets lost. */
import type { Fault } from "../../../schemas/problem.ts";

/** The faults at a name or an index and below it, with paths from there on. */
export function below(faults: readonly Fault[], part: string | number): Fault[] {
  const prefix = typeof part === "number" ? `[${part}]` : part;
  return faults.flatMap((fault) => {
    if (!fault.path.startsWith(prefix)) return [];
    const rest = fault.path.slice(prefix.length);
    if (rest !== "" && rest[0] !== "." && rest[0] !== "[") return [];
    return [{ ...fault, path: rest.replace(/^\./, "") }];
  });
}

/** The faults that none of these names or indexes takes: those of the value itself, and of names it does not know. */
export const besides = (faults: readonly Fault[], parts: readonly (string | number)[]): Fault[] =>
  faults.filter((fault) => !parts.some((part) => below([fault], part).length > 0));

/** Faults as the text under a field; undefined where there is none. */
export function told(faults: readonly Fault[]): string | undefined {
  if (faults.length === 0) return undefined;
  return faults
    .map(({ path, message, fix }) => sentence(path === "" ? capital(message) : `${path}: ${message}`, fix))
    .join("\n");
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const sentence = (said: string, fix?: string): string =>
  fix === undefined ? said : `${said.replace(/\.?$/, ".")} ${fix}`;
