/** Listeners with tracing, and the expectations of every trace. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { type ApiClient, apiClient } from "./http.ts";
import { eventually } from "./eventually.ts";
import { temporaryDirectory } from "./instance.ts";
import type { OtlpReceiver, ReceivedSpan } from "./otlp-receiver.ts";
import { type Program, runCommand, startProgram } from "./process.ts";

export interface TracedServer {
  stateDir: string;
  key: string;
  program: Program;
  call: ApiClient;
  /** Creates a workflow and returns its id. */
  createWorkflow(name: string, definition: Record<string, unknown>): Promise<string>;
  /** Waits until a run has ended. */
  waitForRunEnd(runId: string): Promise<{ id: string; status: string }>;
}

/** Starts a listener with an executor. @param config the configuration file, as JSON */
export async function startTracedServer(
  command: "serve" | "mcp-sse",
  env: Record<string, string>,
  config: unknown = {},
): Promise<TracedServer> {
  const stateDir = temporaryDirectory();
  writeFileSync(join(stateDir, "config.yaml"), JSON.stringify(config));
  const made = await runCommand(
    ["keys", "create", "--name", "t", "--scope", "write", "publish", "run", "approve"],
    {
      MILLRACE_STATE_DIR: stateDir,
    },
  );
  const key = made.out.trim();
  const program = await startProgram(command, stateDir, { env });
  const call = apiClient(program.url, key);
  return {
    stateDir,
    key,
    program,
    call,
    async createWorkflow(name, definition) {
      const { body } = await call("POST", "/workflows", { name, description: "", definition });
      return body.id as string;
    },
    waitForRunEnd: (runId) =>
      eventually(async () => {
        const { body } = await call("GET", `/runs/${runId}`);
        return body.finished_at === null ? undefined : body;
      }, `the end of ${runId}`),
  };
}

export const isRunSpan =
  (id: string) =>
  (span: ReceivedSpan): boolean =>
    span.name.startsWith("run ") && span.attributes["millrace.run_id"] === id;

/**
 * Expects one trace in which every span has a parent, occurs once, and does not end before its start.
 * @param from the caller's span; undefined when the trace begins here
 */
export function expectCompleteTrace(
  spans: readonly ReceivedSpan[],
  traceId: string,
  from: string | null,
): void {
  const own = spans.filter((span) => span.traceId === traceId);
  const ids = own.map((span) => span.spanId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(own.filter((span) => span.end < span.start)).toEqual([]);
  const orphans = own.filter((span) => span.parentId !== from && !ids.includes(span.parentId ?? ""));
  expect(orphans).toEqual([]);
}

/** The spans of a receiver as an indented tree, ordered by name. */
export function formatSpanTree(
  { spans }: Pick<OtlpReceiver, "spans">,
  top: string | null,
  depth = 0,
): string[] {
  const lines: string[] = [];
  const below = spans
    .filter((span) => span.parentId === top)
    .toSorted((a, b) => a.name.localeCompare(b.name) || itemOf(a) - itemOf(b) || a.start - b.start);
  for (const span of below) {
    const item = itemOf(span) < 0 ? "" : ` [${itemOf(span)}]`;
    const outcome = span.attributes["millrace.status"] ?? span.attributes["http.response.status_code"];
    lines.push(`${"  ".repeat(depth)}${span.name}${item}: ${outcome}`);
    lines.push(...formatSpanTree({ spans }, span.spanId, depth + 1));
  }
  return lines;
}

const itemOf = ({ attributes }: ReceivedSpan): number => Number(attributes["millrace.item"] ?? -1);
