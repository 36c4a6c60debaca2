/** How a command is written in another terminal, whose environment may be another one. */
import { resolve } from "node:path";
import type { Settings } from "../config/environment.ts";

/**
 * @param command without the program: `users setup-link`
 * @returns the line for a shell, with the state directory if it is not the default one
 */
export function commandHint(
  { stateDir, isDefaultStateDir }: Pick<Settings, "stateDir" | "isDefaultStateDir">,
  command: string,
): string {
  const line = `npx millrace ${command}`;
  return isDefaultStateDir ? line : `MILLRACE_STATE_DIR=${quoted(resolve(stateDir))} ${line}`;
}

/** A word of a POSIX shell. @see POSIX.1-2024, Shell Command Language, 2.2.2 */
const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
