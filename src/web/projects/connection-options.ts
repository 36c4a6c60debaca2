/** The choices of what a project may use, with their labels. */
import * as texts from "#texts/projects";
import type { GrantKind, HttpPublic, Project } from "../../../schemas/project.ts";

export const CONNECTION_OPTIONS: { value: Project["connections"]; label: string; description: string }[] = [
  {
    value: "granted",
    label: texts.onlyGranted,
    description: texts.onlyGrantedHelp,
  },
  {
    value: "all",
    label: texts.allConnections,
    description: texts.allConnectionsHelp,
  },
];

export const HTTP_PUBLIC_LABELS: Readonly<Record<HttpPublic | "", string>> = {
  "": texts.hostsAsConfigured,
  any: texts.anyHosts,
  list: texts.grantedHosts,
  none: texts.noHosts,
};

/** The limits of a project, with what each counts. */
export const LIMIT_LABELS = {
  runs_per_hour: texts.runsPerHour,
  unfinished_runs: texts.unfinishedRuns,
  model_tokens_per_day: texts.tokensPerDay,
  rows_per_day: texts.rowsPerDay,
  stored_bytes: texts.storedBytes,
} as const;

export const GRANT_KIND_LABELS: Readonly<Record<GrantKind, string>> = {
  database: texts.database,
  model: texts.model,
  mcp_server: texts.mcpServer,
  secret: texts.secret,
  host: texts.host,
  mail: texts.mailDomain,
  chat: texts.chat,
};
