/**
 * The connection of a view with its host: JSON-RPC over messages between windows (SEP-1865). The SDK of the extension would be five
 * times as large as a whole view, and a view needs five of its messages.
 */
import type {
  McpUiHostCapabilities,
  McpUiHostContext,
  McpUiInitializeResult,
} from "@modelcontextprotocol/ext-apps";

/** The result of a tool, as far as a view reads it. */
export interface ToolResult {
  structuredContent?: unknown;
  content?: unknown;
  isError?: boolean;
}

export interface Host {
  capabilities: McpUiHostCapabilities;
  /** @throws Error when the host refuses, or does not answer */
  callTool(name: string, args: Record<string, unknown>): Promise<ToolResult>;
  /** Asks the host to open a page. @returns whether it did */
  openLink(url: string): Promise<boolean>;
}

export interface HostEvents {
  /** The arguments of the tool whose result the view shows. */
  onInput(args: Record<string, unknown>): void;
  onResult(result: ToolResult): void;
  onCancelled(): void;
  /** The host is about to remove the view. */
  onTeardown(): void;
}

/** The revision of the extension. */
const PROTOCOL_VERSION = "2026-01-26";
/** Maximum time until the host answers, in milliseconds. */
const ANSWER_LIMIT_MS = 60_000;

interface Message {
  id?: number | string;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: { message?: string };
}

const post = (message: Message): void => window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");

/** Opens the connection. The host sends the input and the result of the tool once it is open. */
export async function connectHost(events: HostEvents): Promise<Host> {
  const pending = new Map<number | string, (answer: Message) => void>();
  let requests = 0;

  async function request(method: string, params: Record<string, unknown>): Promise<unknown> {
    const id = ++requests;
    const { promise, resolve } = Promise.withResolvers<Message>();
    pending.set(id, resolve);
    const timer = setTimeout(
      () => resolve({ error: { message: "The host does not answer." } }),
      ANSWER_LIMIT_MS,
    );
    post({ id, method, params });
    const { result, error } = await promise;
    clearTimeout(timer);
    pending.delete(id);
    if (error !== undefined) throw new Error(error.message ?? "The host refused the request.");
    return result;
  }

  const handlers: Record<string, (params: Record<string, unknown>) => void> = {
    "ui/notifications/tool-input": ({ arguments: args }) =>
      events.onInput((args ?? {}) as Record<string, unknown>),
    "ui/notifications/tool-result": (result) => events.onResult(result),
    "ui/notifications/tool-cancelled": () => events.onCancelled(),
    "ui/notifications/host-context-changed": (context) => applyContext(context),
    "ui/resource-teardown": () => events.onTeardown(),
    ping: () => undefined,
  };

  window.addEventListener("message", ({ source, data }: MessageEvent<Message | null>) => {
    if (source !== window.parent || typeof data !== "object" || data === null) return;
    const { id, method, params = {} } = data;
    if (method === undefined) {
      if (id !== undefined) pending.get(id)?.(data);
      return;
    }
    const handle = Object.hasOwn(handlers, method) ? handlers[method]! : undefined;
    handle?.(params);
    if (id === undefined) return;
    const unknown = { error: { code: -32_601, message: `This view has no method ${method}.` } };
    post({ id, ...(handle === undefined ? unknown : { result: {} }) });
  });

  const { hostCapabilities, hostContext } = (await request("ui/initialize", {
    appInfo: { name: "millrace", version: "1" },
    appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
    protocolVersion: PROTOCOL_VERSION,
  })) as McpUiInitializeResult;
  applyContext(hostContext);
  post({ method: "ui/notifications/initialized", params: {} });
  reportHeight((height) => post({ method: "ui/notifications/size-changed", params: { height } }));

  return {
    capabilities: hostCapabilities,
    callTool: async (name, args) => (await request("tools/call", { name, arguments: args })) as ToolResult,
    async openLink(url) {
      const { isError } = (await request("ui/open-link", { url })) as { isError?: boolean };
      return isError !== true;
    },
  };
}

/** Takes over the theme of the host, and the space that its frame covers. */
function applyContext({ theme, styles, safeAreaInsets: insets }: Partial<McpUiHostContext>): void {
  const { style } = document.documentElement;
  if (theme !== undefined) style.colorScheme = theme;
  for (const [name, value] of Object.entries(styles?.variables ?? {}))
    if (name.startsWith("--") && typeof value === "string") style.setProperty(name, value);
  if (insets !== undefined)
    style.padding = [insets.top, insets.right, insets.bottom, insets.left]
      .map((side) => `${side}px`)
      .join(" ");
}

function reportHeight(report: (height: number) => void): void {
  const root = document.documentElement;
  let reported = 0;
  new ResizeObserver(() => {
    const height = Math.ceil(root.getBoundingClientRect().height);
    if (height === reported) return;
    reported = height;
    report(height);
  }).observe(root);
}
