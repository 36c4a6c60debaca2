/**
 * What steps reach of the world, as the configuration names it. `src/connections` implements these ports; steps, the
 * checker and the describe operations use them. Everything that fails throws a `StepError`.
 */
import type { Issue } from "../../schemas/problem.ts";
import type { Usage } from "./model.ts";
import type { TraceHeaders } from "./trace-context.ts";

export type { Usage } from "./model.ts";

/** A name that the configuration has, for lists and near matches. */
export interface NamedConnection {
  name: string;
  /** `sqlite`, `openai`, `stdio` …: what kind it is. */
  type: string;
  /** Why it can't be used now (an environment variable that is not set), or null. */
  unavailableReason: string | null;
}

export interface SqlColumn {
  name: string;
  /** In the words of expressions; `any` where the database does not say. */
  type: "string" | "number" | "boolean" | "any";
  /** In the database's own words. */
  databaseType: string | null;
}

/** The name of the database in memory, beside those of the configuration. */
export const SCRATCH_DATABASE = "scratch";

export interface SqlRequest {
  /** A name of the configuration, or `scratch`. */
  database: string;
  query: string;
  /** Bound as `:name`. */
  params: Readonly<Record<string, unknown>>;
  /** Allowed only where the database's entry says read-write. */
  write: boolean;
  maxRows: number;
  maxBytes: number;
  /** For `scratch`: rows of earlier steps, to be loaded as tables. */
  tables?: Readonly<Record<string, readonly unknown[]>> | undefined;
}

export interface SqlResult {
  rows: Record<string, unknown>[];
  columns: SqlColumn[];
  /** How many rows are given; for a statement that writes, how many it changed. */
  row_count: number;
  /** Whether there were more than were given. */
  truncated: boolean;
}

export interface TableDescription {
  name: string;
  /** `table` or `view`. */
  kind: string;
  columns: { name: string; type: string; nullable: boolean }[];
  /** Counted, or estimated where counting would take long; null where it is not known. */
  row_count: number | null;
  sample?: Record<string, unknown>[];
}

/** A fault whose place is within the step: path parts below it. */
export type PartialIssue = Omit<Issue, "path"> & { path?: PropertyKey[] };

interface DatabaseEntry extends NamedConnection {
  access: "read-only" | "read-write";
}

export interface Databases {
  list(): DatabaseEntry[];
  /** The most statements at a time on this database, over all executors; null for no limit. */
  concurrencyOf(name: string): number | null;
  query(request: SqlRequest, signal: AbortSignal): Promise<SqlResult>;
  /**
   * Prepares a query without running it.
   * @param request `params` only need the right names here; `tables` names the columns of scratch tables
   * @returns its columns, or the faults that kept it from being prepared (query, parameters, access, database)
   */
  prepare(
    request: {
      database: string;
      query: string;
      params: readonly string[];
      write: boolean;
      tables?: Readonly<Record<string, readonly SqlColumn[] | null>> | undefined;
    },
    signal: AbortSignal,
  ): Promise<{ columns: SqlColumn[] } | { issues: PartialIssue[] }>;
  describe(
    name: string,
    options: { table?: string | undefined; samples: number; limit: number },
    signal: AbortSignal,
  ): Promise<TableDescription[]>;
}

export interface ModelRequest {
  model: string;
  prompt: string;
  system?: string | undefined;
  /** JSON Schema that the answer must fit. */
  outputSchema?: Readonly<Record<string, unknown>> | undefined;
  maxOutputTokens?: number | undefined;
  temperature?: number | undefined;
  /** Sent along, so that its spans join the trace. */
  trace?: TraceHeaders | undefined;
}

export interface ModelResponse {
  /** Without an output schema. */
  text: string | null;
  /** With one: what fits it. */
  object: unknown;
  usage: Usage;
  finish_reason: string;
}

export interface Models {
  list(): (NamedConnection & { model_ref: string })[];
  concurrencyOf(name: string): number | null;
  generate(request: ModelRequest, signal: AbortSignal): Promise<ModelResponse>;
}

/** A secret by its name, where a header or field takes one. */
export interface SecretRef {
  secret: string;
  prefix?: string | undefined;
}

export interface HttpRequest {
  method: string;
  url: string;
  headers: Readonly<Record<string, string | SecretRef>>;
  /** Sent as JSON unless it is text. */
  body?: unknown;
  maxBytes: number;
  /** Statuses that the caller wants as they are: a redirect with one of these is given, not followed. */
  acceptStatus?: readonly number[] | undefined;
  /** Sent along unless `headers` holds one of its own. */
  trace?: TraceHeaders | undefined;
}

export interface HttpResponse {
  status: number;
  headers: Record<string, string>;
  /** Parsed by content type: JSON, else text; secrets that came back are masked. */
  body: unknown;
}

export interface Http {
  /** Faults that can be known before: a private host, a secret that is not set or not for this host. */
  check(request: { url: string | null; secrets: readonly string[] }): PartialIssue[];
  /** Names of the secrets that workflows may use. */
  secrets(): (NamedConnection & { hosts: readonly string[] })[];
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse>;
}

export interface McpTool {
  name: string;
  description: string;
  inputSchema: Readonly<Record<string, unknown>>;
  outputSchema: Readonly<Record<string, unknown>> | null;
  readOnly: boolean;
}

export interface McpServers {
  list(): NamedConnection[];
  concurrencyOf(name: string): number | null;
  tools(server: string, signal: AbortSignal): Promise<McpTool[]>;
  /** @returns the tool's structured content, else its text */
  call(
    server: string,
    tool: string,
    args: Readonly<Record<string, unknown>>,
    options: { idempotencyKey: string; trace?: TraceHeaders | undefined },
    signal: AbortSignal,
  ): Promise<unknown>;
}

export interface Mail {
  to: readonly string[];
  cc?: readonly string[] | undefined;
  subject: string;
  text: string;
  html?: string | undefined;
  /** Becomes the Message-ID, so that a repeated mail can be told from a second one. */
  idempotencyKey: string;
}

export interface Mailer {
  /** Why no mail can be sent, or null. */
  unavailableReason(): string | null;
  allowedDomains(): readonly string[];
  send(mail: Mail, signal: AbortSignal): Promise<{ message_id: string; accepted: string[] }>;
}

export interface Connections {
  databases: Databases;
  models: Models;
  http: Http;
  mcpServers: McpServers;
  mailer: Mailer;
  /** The database of sql steps that name none. */
  defaultDatabase: string | null;
  /** Ends children and connections. */
  close(): Promise<void>;
}
