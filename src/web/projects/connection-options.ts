/** The choices of what a project may use, with their labels. */
import type { GrantKind, HttpPublic, Project } from "../../../schemas/project.ts";

export const CONNECTION_OPTIONS: { value: Project["connections"]; label: string; description: string }[] = [
  {
    value: "granted",
    label: "Only granted ones",
    description: "Its workflows use the databases, models and other connections that an admin grants.",
  },
  {
    value: "all",
    label: "All connections",
    description: "Its workflows use everything in the configuration, also what is added to it later.",
  },
];

export const HTTP_PUBLIC_LABELS: Readonly<Record<HttpPublic | "", string>> = {
  "": "As the configuration says",
  any: "Any",
  list: "Only granted hosts",
  none: "None",
};

/** The limits of a project, with what each counts. */
export const LIMIT_LABELS = {
  runs_per_hour: "Runs per hour",
  unfinished_runs: "Unfinished runs",
  model_tokens_per_day: "Model tokens per day",
  rows_per_day: "Database rows per day",
  stored_bytes: "Stored bytes",
  mails_per_hour: "Mails per hour",
  mails_to_address_per_hour: "Mails to one address per hour",
} as const;

export const GRANT_KIND_LABELS: Readonly<Record<GrantKind, string>> = {
  database: "Database",
  model: "Model",
  mcp_server: "MCP server",
  secret: "Secret",
  host: "Host",
  mail: "Mail domain",
  chat: "Chat",
};
