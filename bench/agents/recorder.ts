/** An MCP client as an agent has it, which records every call with its answer. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Effect } from "./effects.ts";
import type { Transcript } from "./transcript.ts";

export interface ListedTool {
  name: string;
  description?: string | undefined;
  inputSchema: Record<string, unknown>;
}

export interface RecordedCall {
  tool: string;
  arguments: Record<string, unknown>;
  error: boolean;
  /** What the agent reads. */
  text: string;
  /** The number of effects in the world after it. */
  effects: number;
}

export interface Recorder {
  /** What the server says about itself. */
  instructions: string;
  tools: readonly ListedTool[];
  /** The size of `tools/list`, in characters of JSON. */
  toolsSize: number;
  calls: readonly RecordedCall[];
  call(tool: string, args: Record<string, unknown>): Promise<RecordedCall>;
  close(): Promise<void>;
}

interface Content {
  type: string;
  text?: string;
}

/** Connects to the MCP endpoint. @param effects the effects in the world, which are counted after every call */
export async function connectRecorder(
  url: string,
  key: string,
  effects: readonly Effect[],
): Promise<Recorder> {
  const client = new Client(
    { name: "bench-agents", version: "1.0.0" },
    { versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { "X-API-Key": key } } }),
  );
  const { tools } = await client.listTools();
  const calls: RecordedCall[] = [];
  return {
    instructions: client.getInstructions() ?? "",
    tools,
    toolsSize: JSON.stringify({ tools }).length,
    calls,
    async call(tool, args) {
      const { content, isError } = await client
        .callTool({ name: tool, arguments: args }, { timeout: 300_000 })
        // A tool that does not exist is refused by the protocol, not by the tool.
        .catch((error: unknown) => ({ isError: true, content: [{ type: "text", text: String(error) }] }));
      const text = (content as Content[]).map((part) => part.text ?? "").join("\n");
      const call = { tool, arguments: args, error: isError === true, text, effects: effects.length };
      calls.push(call);
      return call;
    },
    close: () => client.close(),
  };
}

const MIN_ID = 8;
const MAX_ID = 300;

/** Parts of answers that name what the language has, which no instance assigns. */
const OF_LANGUAGE: ReadonlySet<string> = new Set(["functions", "step_types"]);

/** The texts of a JSON value that may be ids, by JSON Pointer. */
export function idsOf(text: string): Map<string, string> {
  const found = new Map<string, string>();
  const visit = (value: unknown, pointer: string): void => {
    if (typeof value === "string") {
      if (value.length >= MIN_ID && value.length <= MAX_ID && !/\s/.test(value) && /[\d_]/.test(value))
        found.set(pointer, value);
    } else if (typeof value === "object" && value !== null)
      for (const [name, inner] of Object.entries(value).filter(([field]) => !OF_LANGUAGE.has(field)))
        visit(inner, `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`);
  };
  try {
    visit(JSON.parse(text), "");
  } catch {
    // Not JSON, so it has no places.
  }
  return found;
}

/** Keeps of the calls what a replay needs. */
export function transcriptOf(calls: readonly RecordedCall[], about: Omit<Transcript, "calls">): Transcript {
  const sent = calls.map((call) => JSON.stringify(call.arguments));
  return {
    ...about,
    calls: calls.map(({ tool, arguments: args, error, text }, index) => {
      const later = sent.slice(index + 1).join("\n");
      const before = sent.slice(0, index + 1).join("\n");
      // What the agent itself has written is no id that the instance has assigned.
      const ids = [...idsOf(text)].filter(([, id]) => later.includes(id) && !before.includes(id));
      return { tool, arguments: args, error, ...(ids.length > 0 && { ids: Object.fromEntries(ids) }) };
    }),
  };
}
