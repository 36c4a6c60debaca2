/** Runs a view: shows the result of the tool, keeps it up to date, and carries out what its buttons do. */
import type { Problem } from "../../../schemas/problem.ts";
import { detailForPeople } from "../api/api-words.ts";
import { connectHost, type Host, type ToolResult } from "./host.ts";
import { type Action, h, type ViewNode } from "./nodes.ts";
import { renderInto } from "./render.ts";

/** Calls a tool through the host, and returns its output. @throws Error with the message of a failed call */
export type Call = (name: string, args: Record<string, unknown>) => Promise<Record<string, unknown>>;

export interface View<T> {
  /** The state of the view for the output of the tool that it was called with; undefined for an output that it can't show. */
  read(output: Record<string, unknown>, input: Record<string, unknown>): T | undefined;
  /** The state as it is now. */
  load(state: T, call: Call): Promise<T>;
  /** Whether nothing changes any more. */
  isFinal(state: T): boolean;
  /** @param now milliseconds since 1970 */
  nodes(state: T, now: number): ViewNode[];
  /** Shows one of several things. */
  show?(state: T, id: string | null): T;
}

/** Time between two updates, in milliseconds. */
const INTERVAL_MS = 5_000;
/** Number of updates in a row that may fail before they end. */
const MAX_FAILURES = 3;

export async function runView<T>(view: View<T>): Promise<void> {
  let input: Record<string, unknown> = {};
  let shown: { state: T } | undefined;
  let notice: ViewNode[] = [h("p", { role: "status", class: "dim" }, "Waiting for the result…")];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  let isClosed = false;
  const render = renderInto(document.querySelector("main")!, (action) => void act(action));
  const update = (): void =>
    render([...notice, ...(shown === undefined ? [] : view.nodes(shown.state, Date.now()))]);
  update();

  function show(result: ToolResult): void {
    notice = [];
    try {
      const state = view.read(outputOf(result), input);
      if (state === undefined) notice = alert("This result has nothing that this view can show.");
      else shown = { state };
    } catch (error) {
      notice = alert((error as Error).message);
    }
    update();
    void refresh();
  }

  const host = connectHost({
    onInput: (args) => (input = args),
    onResult: show,
    onCancelled() {
      notice = alert("The call was cancelled.");
      update();
    },
    onTeardown() {
      isClosed = true;
      clearTimeout(timer);
    },
  });

  /** Loads the state again, and goes on doing so until it is final. A hidden view waits until it is seen. */
  async function refresh(): Promise<void> {
    clearTimeout(timer);
    const before = shown;
    const { capabilities, callTool } = await host;
    if (before === undefined || capabilities.serverTools === undefined || view.isFinal(before.state)) return;
    try {
      const state = await view.load(before.state, async (name, args) => outputOf(await callTool(name, args)));
      // Another state may be shown by now.
      if (shown !== before) return;
      shown = { state };
      failures = 0;
      notice = [];
    } catch (error) {
      failures += 1;
      if (failures >= MAX_FAILURES) notice = stopped(error as Error);
    }
    update();
    if (failures >= MAX_FAILURES || isClosed || view.isFinal((shown ?? before).state)) return;
    timer = setTimeout(() => void whenVisible(refresh), INTERVAL_MS);
  }

  async function act(action: Action): Promise<void> {
    if ("refresh" in action) {
      failures = 0;
      return refresh();
    }
    if ("show" in action) {
      if (shown !== undefined && view.show !== undefined)
        shown = { state: view.show(shown.state, action.show) };
      update();
      return refresh();
    }
    const url = pageUrl(action.open);
    if (await opens(await host, url)) return;
    notice = [
      h("p", { role: "status", class: "notice" }, "Your client did not open the page: ", h("code", {}, url)),
    ];
    update();
  }

  await host;
}

/** The address of a page of the web interface. @param path below `/ui` */
const pageUrl = (path: string): string =>
  `${document.querySelector<HTMLMetaElement>('meta[name="web-address"]')!.content}/ui${path}`;

const opens = async ({ capabilities, openLink }: Host, url: string): Promise<boolean> =>
  capabilities.openLinks !== undefined && (await openLink(url).catch(() => false));

function whenVisible(work: () => Promise<void>): Promise<void> | void {
  if (!document.hidden) return work();
  document.addEventListener("visibilitychange", () => void whenVisible(work), { once: true });
}

const alert = (text: string): ViewNode[] => [h("p", { role: "alert", class: "notice" }, text)];

const stopped = ({ message }: Error): ViewNode[] => [
  h(
    "div",
    { role: "status", class: "notice" },
    h("p", {}, `Not up to date: ${message}`),
    h("button", { class: "plain", action: { refresh: true } }, "Refresh"),
  ),
];

/** @throws Error with the detail of the problem, for people */
function outputOf({ structuredContent, content, isError }: ToolResult): Record<string, unknown> {
  if (isError === true) throw new Error(problemText(content));
  if (typeof structuredContent === "object" && structuredContent !== null)
    return structuredContent as Record<string, unknown>;
  throw new Error("The result has no structured content, which this view needs.");
}

/** The text of a failed call, which is a problem as JSON. */
function problemText(content: unknown): string {
  const [first] = Array.isArray(content) ? (content as { text?: unknown }[]) : [];
  const text = typeof first?.text === "string" ? first.text : "The call failed.";
  try {
    return detailForPeople(JSON.parse(text) as Problem);
  } catch {
    return text;
  }
}
