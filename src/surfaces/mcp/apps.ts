/**
 * The views of MCP Apps: pages that a host shows beside the result of a tool, in a sandbox. A page contains no data: the host passes the
 * result to it. @see SEP-1865
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ReadResourceResult, Resource, Server } from "@modelcontextprotocol/server";
import { escapeHtml } from "../../core/mail/html.ts";
import type { Operations } from "./read-operation.ts";
import type { ListedTool } from "./tool-list.ts";

/** The name of the extension. */
export const APPS = "io.modelcontextprotocol/ui";
const MIME_TYPE = "text/html;profile=mcp-app";

/** Placeholder in the built pages for the address of the web interface. */
const WEB_ADDRESS = "__WEB_ADDRESS__";

interface View {
  uri: string;
  file: string;
  name: string;
  title: string;
  description: string;
  /** The operation with which the page refreshes what it shows: who may not use it gets no page. */
  operation: string;
  /** The operations whose results it shows. */
  shows: readonly string[];
}

const VIEWS: readonly View[] = [
  {
    uri: "ui://millrace/approval.html",
    file: "approval.html",
    name: "approval-view",
    title: "Approval",
    description:
      "Shows approvals with their evidence and what runs next. A person decides in the web interface.",
    operation: "list_approvals",
    shows: ["list_approvals"],
  },
  {
    uri: "ui://millrace/run.html",
    file: "run.html",
    name: "run-view",
    title: "Run",
    description: "Shows a run with the timeline of its steps, and why it failed.",
    operation: "get_run",
    shows: ["get_run", "retry_run", "run_workflow"],
  },
];

/** A tool with the link to the view of its results, if there is one. @param operation what the tool executes */
export type Link = (tool: ListedTool, operation: string) => ListedTool;

export interface McpApps {
  link: Link;
  /** The views that a caller may use. */
  list(operations: Operations): Resource[];
  /** Reads a view; undefined for a URI of none. @throws AppError missing_scope, not_permitted */
  read(operations: Operations, uri: string): Promise<ReadResourceResult> | undefined;
}

/**
 * @param directory output of `npm run build:web`
 * @param webAddress the address of the web interface, to which the pages lead
 * @returns undefined when the pages are not built
 */
export function mcpApps(directory: string, webAddress: () => Promise<string>): McpApps | undefined {
  const paths = VIEWS.map(({ file }) => join(directory, file));
  if (!paths.every((path) => existsSync(path))) return undefined;
  const pages = new Map(VIEWS.map(({ uri }, index) => [uri, readFileSync(paths[index]!, "utf8")]));
  const uris = new Map(VIEWS.flatMap(({ uri, shows }) => shows.map((operation) => [operation, uri])));

  const contentsOf = async (uri: string): Promise<ReadResourceResult> => {
    const text = pages.get(uri)!.replaceAll(WEB_ADDRESS, escapeHtml(await webAddress()));
    return { contents: [{ uri, mimeType: MIME_TYPE, text, _meta: RESOURCE_META }] };
  };

  return {
    link(tool, operation) {
      const resourceUri = uris.get(operation);
      return resourceUri === undefined ? tool : { ...tool, _meta: { ui: { resourceUri } } };
    },
    list: ({ canUse }) =>
      VIEWS.filter(({ operation }) => canUse(operation)).map(({ uri, name, title, description }) => ({
        uri,
        name,
        title,
        description,
        mimeType: MIME_TYPE,
        _meta: RESOURCE_META,
      })),
    read({ authorise }, uri) {
      const view = VIEWS.find((one) => one.uri === uri);
      if (view === undefined) return undefined;
      authorise(view.operation);
      return contentsOf(uri);
    },
  };
}

/** The pages load nothing, so they name no domains. */
const RESOURCE_META = { ui: { prefersBorder: true } };

/** Whether the client of a request shows views. */
export function supportsApps(server: Server): boolean {
  const settings = server.getClientCapabilities()?.extensions?.[APPS] as { mimeTypes?: unknown } | undefined;
  if (settings === undefined) return false;
  const { mimeTypes = [MIME_TYPE] } = settings;
  return Array.isArray(mimeTypes) && mimeTypes.includes(MIME_TYPE);
}
