/** Entries of the configuration that can't be used. The rest of the configuration holds. */
import type { Config, UnusableEntry } from "../../schemas/config.ts";

/** The fix of an error about an entry that can't be used, or whose variable is not set. */
export const CORRECT_ENTRY =
  "Ask the operator to correct its entry in the configuration, or its variable, and to restart Millrace.";

export interface UnusableName {
  name: string;
  /** A clause for messages. */
  reason: string;
}

/** The names of a list whose entries can't be used, with the reasons. */
export const unusableNames = (
  { unusable = [] }: Pick<Config, "unusable">,
  list: UnusableEntry["list"],
): UnusableName[] =>
  unusable
    .filter((entry) => entry.list === list)
    .map(({ name, issues }) => ({
      name,
      reason: `its entry in the configuration is not valid: ${issues.join("; ")}`,
    }));
