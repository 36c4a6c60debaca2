/** Workflows as tools, with inputs that model vendors refuse as they are written: other people's clients list and call each. */
import { describe, expect, it } from "vitest";
import { AWKWARD_INPUTS, awkwardTool, exposeAwkwardInputs } from "../support/awkward-inputs.ts";
import { startTestExecutor } from "../support/executor.ts";
import { testInstance } from "../support/instance.ts";
import { startClient } from "./start-client.ts";

const CLIENTS = ["ai-sdk", "openai-agents", "langchain", "mastra", "mcp-use", "mcporter", "genkit"];

/** The runs in an answer: clients hand a result on as it is, or as JSON text inside of their own. */
function runsIn(value: unknown): { status: string; output: unknown }[] {
  if (typeof value === "string") {
    try {
      return runsIn(JSON.parse(value));
    } catch {
      return [];
    }
  }
  if (typeof value !== "object" || value === null) return [];
  if ("status" in value && "output" in value) return [value as { status: string; output: unknown }];
  return Object.values(value).flatMap(runsIn);
}

describe.each(CLIENTS)("the tools of workflows with awkward inputs, for %s", (name) => {
  it.each(["/mcp", "/sse"].filter((path) => name !== "mastra" || path === "/mcp"))(
    "are listed on %s, take their arguments, and pass them on unchanged",
    async (path) => {
      const instance = await testInstance();
      await startTestExecutor(instance);
      await exposeAwkwardInputs(instance);
      const { url } = await instance.mcp();
      const { value: key } = await instance.key();
      const client = startClient(name, url + path, key);
      expect(await client.ask("connect")).toBe("{}");
      const { result: listed } = JSON.parse(await client.ask("list")) as { result: string[] };
      expect(listed).toEqual(expect.arrayContaining(AWKWARD_INPUTS.map(awkwardTool)));
      for (const awkward of AWKWARD_INPUTS) {
        const answer = await client.call(awkwardTool(awkward), awkward.args);
        const [run] = runsIn(JSON.parse(answer));
        expect(run ?? answer).toMatchObject({ status: "succeeded", output: awkward.given });
      }
    },
  );
});
