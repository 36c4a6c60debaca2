/** `millrace keys create` with projects or limits, which are checked against the configuration and the workflows. */
import type { Scope } from "../../schemas/actor.ts";
import type { KeyLimits } from "../core/access.ts";
import { createApiKey } from "../../tools/api-keys/create-api-key.ts";
import type { Io } from "./io.ts";
import { withOperator } from "./operator.ts";
import { namingOptions } from "./option-issues.ts";
import { plural } from "./plural.ts";

/** The projects and limits of a new key, as options of the command line. */
export interface KeyAreaOptions {
  project?: string[];
  workflow?: string[];
  tool?: string[];
  database?: string[];
  model?: string[];
  config?: string;
}

/** A key as the operation returns it. */
interface CreatedKey {
  id: string;
  value: string;
  scopes: Scope[];
}

export const hasKeyArea = ({ project, workflow, tool, database, model }: KeyAreaOptions): boolean =>
  [project, workflow, tool, database, model].some((names) => names !== undefined);

/** The options of the fields that an issue can be about. */
const OPTIONS = {
  scopes: "--scope",
  expires_at: "--expires",
  projects: "--project",
  "limits.workflows": "--workflow",
  "limits.tools": "--tool",
  "limits.databases": "--database",
  "limits.models": "--model",
};

/** Creates a key of the operator. @throws AppError invalid_input for names that do not exist */
export function createLimitedKey(
  io: Io,
  key: { name: string; scopes?: readonly Scope[]; expires_at?: string },
  { project, workflow, tool, database, model, config }: KeyAreaOptions,
): Promise<CreatedKey> {
  const limits = {
    ...(workflow && { workflows: workflow }),
    ...(tool && { tools: tool }),
    ...(database && { databases: database }),
    ...(model && { models: model }),
  };
  return namingOptions(OPTIONS, () =>
    withOperator(io, { config }, ({ call }) =>
      call<CreatedKey>(createApiKey, {
        ...key,
        ...(project && { projects: project }),
        ...(Object.keys(limits).length > 0 && { limits }),
      }),
    ),
  );
}

/** The limits of a key for a column: how many of each kind. */
export const limitsText = (limits: KeyLimits | null): string =>
  (["workflows", "tools", "databases", "models"] as const)
    .flatMap((kind) => {
      const names = limits?.[kind];
      return names === undefined ? [] : [plural(names.length, kind.slice(0, -1))];
    })
    .join(", ");
