/** Options that choose runs, as the input of operations. */
import { RunStatus } from "../../schemas/run.ts";
import { nearMatch } from "../core/near-match.ts";
import { CommandError, EXIT } from "./io.ts";

export interface RunFilterOptions {
  workflow?: string;
  project?: string;
  status?: string[];
  trigger?: string;
  since?: string;
  until?: string;
}

/** The option of each field of an input that chooses runs, for `namingOptions`. */
export const FILTER_OPTIONS = {
  workflow_id: "--workflow",
  project: "--project",
  status: "--status",
  trigger: "--trigger",
  since: "--since",
  until: "--until",
};

/** @throws CommandError for a status that does not exist */
export const filterInput = ({ workflow, status, project, trigger, since, until }: RunFilterOptions) =>
  definedOnly({ workflow_id: workflow, status: status?.map(checkStatus), project, trigger, since, until });

/** The fields that have a value. */
export const definedOnly = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

function checkStatus(status: string): string {
  if ((RunStatus.options as readonly string[]).includes(status)) return status;
  const near = nearMatch(status, RunStatus.options);
  throw new CommandError(
    `--status must be one of ${RunStatus.options.join(", ")}, got ${status}.${near === undefined ? "" : ` Did you mean ${near}?`}`,
    EXIT.usage,
  );
}
