/**
 * Ports to the configured external systems. `src/connections` implements them; steps, the checker and the describe
 * operations use them. Every failure is a `StepError`.
 */
import type { CsvOptions } from "./csv.ts";
import type { SecretUse } from "./run-ports.ts";
import type { OnInterrupted } from "../../schemas/interruption.ts";
import type { Issue } from "../../schemas/problem.ts";
import type { Chats } from "./chat-port.ts";
import type { InterruptionRules } from "./interruption-rules.ts";
import type { ConnectionView } from "./connection-view.ts";
import type { HttpPolicy } from "./http-policy.ts";
import type { Usage } from "./model.ts";
import type { SqlNumber } from "./shapes.ts";
import type { TraceHeaders } from "./trace-context.ts";
import type { UnfitSecret } from "./webhook-signatures/secret-forms.ts";

/** Whom a connection is used for, and until when. */
export interface CallContext {
  /** The usage subject (usage-limits.ts) of the run or request: those who share a pool get equal parts of it. */
  owner: string;
  /** Aborted when nobody waits for the result any more; its reason is the error of the call. */
  signal: AbortSignal;
}

export interface NamedConnection {
  name: string;
  /** `sqlite`, `openai`, `stdio` and so on. */
  type: string;
  /** Why it can't be used, such as an environment variable that is not set, or null. */
  unavailableReason: string | null;
}

export interface SqlColumn {
  name: string;
  /** The type of every value as it arrives; `any` when the database does not report one, or its values arrive as several. */
  type: "string" | "number" | "boolean" | "any";
  /** Set for a column of numbers whose `type` says less than `scratch` needs to load them. */
  sqlNumber?: SqlNumber;
  /** The database's own name of the type. */
  databaseType: string | null;
}

/** The name of the built-in in-memory database. */
export const SCRATCH_DATABASE = "scratch";

export interface SqlRequest {
  /** The name of a configured database, or `scratch`. */
  database: string;
  query: string;
  /** Bound as `:name`. */
  params: Readonly<Record<string, unknown>>;
  /** Requires `access: read-write` in the database's configuration. */
  write: boolean;
  maxRows: number;
  maxBytes: number;
  /** Whether rows beyond these limits may be left out; otherwise a statement that writes and returns more is rolled back. */
  keepTruncated: boolean;
  /** For `scratch`: rows of earlier steps, which are loaded as tables. */
  tables?: Readonly<Record<string, readonly unknown[]>> | undefined;
  /** The columns of these tables that the checker knows; null for a table where it knows none. */
  tableColumns?: Readonly<Record<string, readonly SqlColumn[] | null>> | undefined;
}

export interface SqlResult {
  rows: Record<string, unknown>[];
  columns: SqlColumn[];
  /** The number of returned rows; for a statement that writes, of changed rows. */
  row_count: number;
  /** Whether the query had more rows than `rows` contains. */
  truncated: boolean;
}

/** What a query names and its database does not have. */
export interface MissingName {
  kind: "table" | "column";
  name: string;
}

export interface TableDescription {
  name: string;
  /** `table` or `view`. */
  kind: string;
  columns: { name: string; type: string; nullable: boolean }[];
  /** Exact, or estimated when counting would take long; null when unknown. */
  row_count: number | null;
  sample?: Record<string, unknown>[];
}

/** A change of text: each range of `source` is replaced. Ranges are offsets in UTF-16 units and don't overlap. */
export interface TextRewrite {
  source: string;
  edits: readonly { start: number; end: number; text: string }[];
}

/** A place in a text, or in an expression that the text contains. */
export interface TextPlace {
  /** The text or the expression. */
  source: string;
  /** Offset in `source`, in UTF-16 units. */
  offset: number;
}

/** A validation issue with a path relative to the step. */
export type PartialIssue = Omit<Issue, "path" | "patch"> & {
  path?: PropertyKey[];
  /** The one right change of the text at the path, or of an expression in that text. */
  rewrite?: TextRewrite;
  /** What the issue is about, in the text at the path. */
  place?: TextPlace;
  /** Set for a finding that does not prevent running. */
  severity?: "warning";
  /** The name that the issue is about, such as the id of a step. */
  subject?: string;
};

interface DatabaseEntry extends NamedConnection {
  access: "read-only" | "read-write";
  /** The names of the roles that can be granted; none where only a part of the configuration may be used. */
  roles?: readonly string[];
}

export interface Databases {
  list(): DatabaseEntry[];
  /** Maximum number of concurrent statements on a database, over all executors; null for no limit. */
  concurrencyOf(name: string): number | null;
  /** How many statements may start in a time, such as `5/s`, over all executors; null for no limit. */
  rateOf(name: string): string | null;
  query(request: SqlRequest, call: CallContext): Promise<SqlResult>;
  /**
   * Prepares a query without running it.
   * @param request `params` are the names of the parameters, `constants` the values of those that are known, and `tables`
   *   has the columns of scratch tables
   * @returns its columns, or the issues that prevent it (in the query, parameters, access or database), with the table or
   *   column that does not exist
   */
  prepare(
    request: {
      database: string;
      query: string;
      params: readonly string[];
      constants?: Readonly<Record<string, unknown>> | undefined;
      write: boolean;
      tables?: Readonly<Record<string, readonly SqlColumn[] | null>> | undefined;
    },
    call: CallContext,
  ): Promise<{ columns: SqlColumn[] } | { issues: PartialIssue[]; missing?: MissingName | undefined }>;
  describe(
    name: string,
    options: { table?: string | undefined; samples: number; limit: number },
    call: CallContext,
  ): Promise<TableDescription[]>;
}

export interface ModelRequest {
  model: string;
  prompt: string;
  system?: string | undefined;
  /** The JSON Schema of the response. */
  outputSchema?: Readonly<Record<string, unknown>> | undefined;
  maxOutputTokens?: number | undefined;
  temperature?: number | undefined;
  /** Sent with the request, so that the receiver's spans join the trace. */
  trace?: TraceHeaders | undefined;
}

export interface ModelResponse {
  /** Null with an output schema. */
  text: string | null;
  /** With an output schema: the value that matches it. */
  object: unknown;
  usage: Usage;
  finish_reason: string;
}

export interface Models {
  list(): (NamedConnection & { model_ref: string })[];
  concurrencyOf(name: string): number | null;
  rateOf(name: string): string | null;
  generate(request: ModelRequest, call: CallContext): Promise<ModelResponse>;
}

/** A reference to a secret by its name, in a header or field. */
export interface SecretRef {
  secret: string;
  prefix?: string | undefined;
}

/** How the body of a response with a status of 2xx is read. */
export interface BodyFormat {
  /** Left out: by the content type. */
  parse?: "json" | "csv" | "text" | "base64" | undefined;
  /** For `parse: "csv"`. */
  csv?: CsvOptions | undefined;
  /** A label of the Encoding standard, for a body without a byte order mark. Left out: as the response declares, or UTF-8. */
  charset?: string | undefined;
}

export interface HttpRequest {
  method: string;
  /** The URL, or the name of a secret whose value it is. */
  url: string | { secret: string };
  headers: Readonly<Record<string, string | SecretRef>>;
  /** Sent as JSON, or as it is when it is a string. */
  body?: unknown;
  maxBytes: number;
  /** Returns the first `maxBytes` of the body as text, in place of a failure where there is more or less of it. */
  onlyStart?: boolean | undefined;
  /** Statuses to return as they are: a redirect with one of these is not followed. */
  acceptStatus?: readonly number[] | undefined;
  format?: BodyFormat | undefined;
  /** Sent with the request unless `headers` already has a trace. */
  trace?: TraceHeaders | undefined;
  /** Hosts that this request may reach, of those that the configuration allows. Default: all of them. */
  policy?: HttpPolicy | undefined;
}

/** Names in lower case. `set-cookie` is a list, whose values can't be joined; other repeated headers are one text. */
export type ResponseHeaders = Readonly<Record<string, string | string[]>>;

export interface HttpResponse {
  status: number;
  headers: ResponseHeaders;
  /**
   * Parsed as JSON or text by its content type; secrets that the response repeats are masked. A large one is an
   * `EncodedJson`, because parsing it again would block the event loop.
   */
  body: unknown;
}

interface SecretEntry extends NamedConnection {
  hosts: readonly string[];
  /** Null for every method. */
  methods: readonly string[] | null;
  /** Null for every header. */
  headers: readonly string[] | null;
  /** The schemes of signatures whose form its value does not have. Null while no value is known. */
  unfit: readonly UnfitSecret[] | null;
}

/** What is known of a request before it is sent. */
interface HttpCheck {
  /** Null while it is not known. */
  url: string | { secret: string } | null;
  /** Null while it is not known. */
  method: string | null;
  /** The headers with secrets; the paths of issues have the index. */
  secrets: readonly { name: string; header: string }[];
  /** As in `HttpRequest`. */
  policy?: HttpPolicy | undefined;
}

export interface Http {
  /** Finds issues before the request is sent: a host that must not be called, or a secret that is not set or not allowed in this request. */
  check(request: HttpCheck): PartialIssue[] | Promise<PartialIssue[]>;
  /** Names of the secrets that workflows may use. */
  secrets(): SecretEntry[];
  send(request: HttpRequest, call: CallContext): Promise<HttpResponse>;
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
  rateOf(name: string): string | null;
  tools(server: string, call: CallContext): Promise<McpTool[]>;
  /** @returns the tool's structured content, else its text */
  call(
    server: string,
    tool: string,
    args: Readonly<Record<string, unknown>>,
    options: { idempotencyKey: string; trace?: TraceHeaders | undefined },
    call: CallContext,
  ): Promise<unknown>;
}

/** A file of a mail. */
export interface Attachment {
  /** The name of the file. */
  name: string;
  /** Its text, which is sent in UTF-8. */
  content: string;
  /** Its media type; left out, that of the name's extension. */
  content_type?: string | undefined;
}

export interface Mail {
  to: readonly string[];
  cc?: readonly string[] | undefined;
  subject: string;
  text: string;
  html?: string | undefined;
  attachments?: readonly Attachment[] | undefined;
  /** Becomes the Message-ID, so that receivers recognize a repeated mail. */
  idempotencyKey: string;
}

export interface Mailer {
  /** Why no mail can be sent, or null. */
  unavailableReason(): string | null;
  allowedDomains(): readonly string[];
  send(mail: Mail, call: CallContext): Promise<{ message_id: string; accepted: string[] }>;
}

/** What the configuration says of attempts with effects that ended without an answer. */
export interface InterruptionRule {
  /** Whether the receiver recognizes an idempotency key, so that a repeated request has no second effect. */
  idempotent: boolean;
  /** What a step does that says nothing; null where the configuration says nothing either. */
  onInterrupted: OnInterrupted | null;
}

export interface Connections {
  databases: Databases;
  models: Models;
  http: Http;
  mcpServers: McpServers;
  mailer: Mailer;
  /**
   * The current values of secrets, to check signatures with: of those that have one. Nothing else may be done with them: they are
   * never returned, stored or logged.
   * @throws StepError environment if none has one: the first is not configured or not granted, or has no value
   */
  signatureSecrets(names: readonly string[]): Promise<string[]>;
  chats: Chats;
  /** Removes the secrets of the configuration from a text. */
  maskSecrets(text: string): string;
  /** The database of sql steps that do not name one. */
  defaultDatabase: string | null;
  /**
   * Returns the part of the configuration that decides what a call of a resource (`database:shop`) reaches, such as its
   * address or the vendor's name of a model; never a secret. Null for a resource that is not configured.
   */
  targetOf(resource: string): Readonly<Record<string, unknown>> | null;
  /**
   * Returns what the configuration says about an entry that steps use: a resource, `mail`, `http`, or `secret:` with a name.
   * Never a secret, and no limits or prices. Null for one that is not configured.
   */
  configurationOf(entry: string): Readonly<Record<string, unknown>> | null;
  /** The rules of interrupted effects; `interruptionRuleOf` finds that of a step. */
  interruptionRules: InterruptionRules;
  /** The secrets that a call of a resource (`database:shop`) or of `mail` logs in with, by the names of their variables. */
  loginsOf(entry: string): SecretUse[];
}

/** Everything in the configuration. */
export interface ConfiguredConnections extends Connections {
  /**
   * Returns connections as if the configuration had only what the view allows. They share processes, connections and limits
   * with these.
   */
  limitedTo(view: ConnectionView): Connections;
  /** Ends child processes and closes connections. */
  close(): Promise<void>;
}
