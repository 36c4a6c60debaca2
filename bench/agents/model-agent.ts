/** A model as the agent: it gets the request and the tools of the MCP server, and calls them until it has finished. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { dynamicTool, generateText, isStepCount, jsonSchema } from "ai";
import type { Trial } from "./trial.ts";

/** Maximum number of answers of the model on one task. */
const MAX_TURNS = 60;

const ROLE =
  "You do what a person asks, with the tools of an MCP server. The person can't answer questions: decide yourself, " +
  "and stop when everything that was asked for is done.";

export interface ModelOptions {
  /** The base URL of an API like that of OpenAI, such as http://localhost:11434/v1. */
  url: string;
  /** The model's name there. */
  name: string;
  /** The API key, if it needs one. */
  key?: string | undefined;
}

/** Lets the model work on the task. */
export async function letModelSolve(
  { request, recorder }: Trial,
  { url, name, key }: ModelOptions,
): Promise<void> {
  const provider = createOpenAICompatible({
    name: "bench",
    baseURL: url,
    ...(key !== undefined && { apiKey: key }),
  });
  const toolSet = recorder.tools.map(({ name: tool, description, inputSchema }) => [
    tool,
    dynamicTool({
      description: description ?? "",
      inputSchema: jsonSchema(inputSchema),
      execute: async (args) => (await recorder.call(tool, (args ?? {}) as Record<string, unknown>)).text,
    }),
  ]);
  await generateText({
    model: provider(name),
    system: `${ROLE}\n\n${recorder.instructions}`,
    prompt: request,
    tools: Object.fromEntries(toolSet) as Record<string, ReturnType<typeof dynamicTool>>,
    stopWhen: isStepCount(MAX_TURNS),
    temperature: 0,
  });
}
