/**
 * The kinds of resources. A resource is what an operation returns: to read it executes the operation, so who may read it, what is
 * recorded and what is missing follow from the operation.
 */
import type { TextResourceContents } from "@modelcontextprotocol/server";
import type { WatchedKind } from "../../core/mcp-subscription-port.ts";

type Variables = Readonly<Record<string, string>>;

export interface ResourceKind {
  /** URI template (RFC 6570): parts of a path and at most one query parameter. */
  template: string;
  name: string;
  title: string;
  description: string;
  mimeType: string;
  /** Whether it changes only with the release; default: it may change at any time. */
  fixed?: true;
  /** As what clients can be notified of its changes; left out for what they can't be notified of. */
  watched?: WatchedKind;
  /** The operation that reads it. */
  operation: string;
  toInput(variables: Variables): Record<string, unknown>;
  toContents(uri: string, output: never): TextResourceContents[];
}

/** Maximum size of a value in one read, in characters of JSON: that of get_run_value. Longer ones are read in pages. */
const MAX_VALUE_CHARS = 100_000;

const JSON_TYPE = "application/json";
const MARKDOWN = "text/markdown";

const json = (uri: string, output: unknown): TextResourceContents[] => [
  { uri, mimeType: JSON_TYPE, text: JSON.stringify(output) },
];

export const GUIDE: ResourceKind = {
  template: "millrace://guide/{topic}",
  name: "guide",
  title: "Guide to a topic",
  description: "The guide to the workflow language by topic: definition, expressions, or a step type.",
  mimeType: MARKDOWN,
  fixed: true,
  operation: "describe_environment",
  toInput: ({ topic }) => ({ topic }),
  toContents: (uri, { guide }: { guide: string }) => [{ uri, mimeType: MARKDOWN, text: guide }],
};

export const WORKFLOW: ResourceKind = {
  template: "millrace://workflows/{workflow_id}",
  name: "workflow",
  title: "Workflow",
  description: "A workflow with its definition, as get_workflow returns it.",
  mimeType: JSON_TYPE,
  watched: "workflow",
  operation: "get_workflow",
  toInput: ({ workflow_id }) => ({ workflow_id }),
  toContents: json,
};

export const RUN: ResourceKind = {
  template: "millrace://runs/{run_id}",
  name: "run",
  title: "Run",
  description: "A run with its steps, output and error, as get_run returns it.",
  mimeType: JSON_TYPE,
  watched: "run",
  operation: "get_run",
  toInput: ({ run_id }) => ({ run_id, detail: "steps" }),
  toContents: json,
};

const VALUE: ResourceKind = {
  template: "millrace://runs/{run_id}/values/{ref}{?offset}",
  name: "run-value",
  title: "Value of a run",
  description:
    "A whole value of a run by its ref: inputs, output, steps.<id>.output, steps.<id>.items.<i>.output, " +
    `steps.<id>.attempts.<n>.input. A value of more than ${MAX_VALUE_CHARS} characters is read in pages.`,
  mimeType: JSON_TYPE,
  operation: "get_run_value",
  toInput: ({ run_id, ref, offset }) => ({
    run_id,
    ref,
    max_chars: MAX_VALUE_CHARS,
    ...(offset !== undefined && { offset: /^\d{1,9}$/.test(offset) ? Number(offset) : offset }),
  }),
  toContents(uri, { text, offset, chars, next_offset: next }: ValuePage) {
    if (offset === 0 && next === null) return [{ uri, mimeType: JSON_TYPE, text }];
    // A part of a JSON text is no JSON.
    const page: TextResourceContents = { uri, mimeType: "text/plain", text };
    if (next === null) return [page];
    const nextUri = `${uri.split("?")[0]}?offset=${next}`;
    const notice = `The value has ${chars} characters; the text above ends at ${next}. The next page is ${nextUri}.`;
    return [page, { uri: nextUri, mimeType: "text/plain", text: notice }];
  },
};

const APPROVAL: ResourceKind = {
  template: "millrace://approvals/{approval_id}",
  name: "approval",
  title: "Approval",
  description: "An approval with its question, its run, what can run after it, and the decisions.",
  mimeType: JSON_TYPE,
  watched: "approval",
  operation: "get_approval",
  toInput: ({ approval_id }) => ({ approval_id }),
  toContents: json,
};

interface ValuePage {
  text: string;
  offset: number;
  chars: number;
  next_offset: number | null;
}

export const RESOURCE_KINDS: readonly ResourceKind[] = [GUIDE, WORKFLOW, RUN, VALUE, APPROVAL];

/** The URI of a resource. */
export const uriOf = ({ template }: ResourceKind, variables: Variables): string =>
  template
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(variables[name]!))
    .replace(/\{\?\w+\}/, "");

const PATTERNS = RESOURCE_KINDS.map((kind) => ({
  kind,
  pattern: new RegExp(
    `^${kind.template.replaceAll(/\{(\??)(\w+)\}/g, (_, query: string, name: string) =>
      query === "" ? `(?<${name}>[^/?#]+)` : `(?:\\?${name}=(?<${name}>[^&#]+))?`,
    )}$`,
    "u",
  ),
}));

/** The kinds whose resources have names. */
const NAMED: readonly ResourceKind[] = [GUIDE, WORKFLOW, RUN, APPROVAL];

/** The kinds whose ids say of what they are, by what ids begin with. */
const BY_PREFIX: Readonly<Record<string, ResourceKind>> = { run: RUN, apr: APPROVAL };

/** The name of a resource, as `resources/list` shows it. */
export const nameOf = ({ name }: ResourceKind, variables: Variables): string =>
  [name, ...Object.values(variables)].join("/");

/** The URI that a text stands for which is the name of a resource, or the id of a run or an approval; else the text itself. */
function uriOfName(text: string): string {
  const [, kindName, prefix = "", value = ""] = /^(?:(\w+)\/|(?=(run|apr)_))([\w.-]+)$/.exec(text) ?? [];
  const kind = BY_PREFIX[prefix] ?? NAMED.find(({ name }) => name === kindName);
  return kind === undefined || value === "" ? text : kind.template.replace(/\{\w+\}/, value);
}

/** Finds the kind of a URI, or of a name, and the values of its template's variables; undefined for one of no kind. */
export function parseUri(
  written: string,
): { uri: string; kind: ResourceKind; variables: Variables } | undefined {
  const uri = uriOfName(written);
  for (const { kind, pattern } of PATTERNS) {
    const groups = pattern.exec(uri)?.groups;
    if (groups === undefined) continue;
    const variables = decode(groups);
    if (variables !== undefined) return { uri, kind, variables };
  }
  return undefined;
}

/** A resource of whose changes clients can be notified. Its template has one variable, the id. */
export interface WatchedResource {
  uri: string;
  kind: ResourceKind & { watched: WatchedKind };
  id: string;
}

const isWatched = (kind: ResourceKind): kind is WatchedResource["kind"] => kind.watched !== undefined;

export const WATCHED_TEMPLATES = RESOURCE_KINDS.filter(isWatched).map(({ template }) => template);

/** Finds the resource of a URI, or of a name; undefined for one of which there are no notices. */
export function findWatched(written: string): WatchedResource | undefined {
  const found = parseUri(written);
  if (found === undefined || !isWatched(found.kind)) return undefined;
  const { kind, variables } = found;
  return { uri: uriOf(kind, variables), kind, id: Object.values(variables)[0]! };
}

/** The same for the URI of such a resource. */
export const parseWatched = (uri: string): WatchedResource => findWatched(uri)!;

/** Undefined if a value is not percent-encoded correctly. */
function decode(groups: Readonly<Record<string, string | undefined>>): Variables | undefined {
  try {
    return Object.fromEntries(
      Object.entries(groups).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, decodeURIComponent(value)]],
      ),
    );
  } catch {
    return undefined;
  }
}
