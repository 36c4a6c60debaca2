/**
 * The tools, resources and prompts that the MCP conformance suite expects a server to have. `conformance-server.ts`
 * registers them on the MCP server, beside the catalogue's own tools.
 */
import { setTimeout as delay } from "node:timers/promises";
import {
  acceptedContent,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type ContentBlock,
  createRequestStateCodec,
  type GetPromptResult,
  type InputRequest,
  inputRequired,
  type InputRequiredResult,
  inputResponse,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { ExtendServer, McpHandlers } from "../../src/surfaces/mcp/server.ts";

type Arguments = Record<string, unknown>;
type Answer = CallToolResult | InputRequiredResult;
type Run = (ctx: ServerContext, args: Arguments) => Answer | Promise<Answer>;

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

const text = (value: string): ContentBlock => ({ type: "text", text: value });
const image: ContentBlock = { type: "image", data: PNG, mimeType: "image/png" };
const embedded = (uri: string, mimeType: string, content: string): ContentBlock => ({
  type: "resource",
  resource: { uri, mimeType, text: content },
});
const content = (...blocks: ContentBlock[]): CallToolResult => ({ content: blocks });
const invalid = (message: string, data?: unknown): ProtocolError =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, message, data);

// Requests to the client, and its responses.

const form = (message: string, properties: object, required?: string[]): InputRequest =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: "object", properties, ...(required && { required }) } as never,
  });
const askName = form("What is your name?", { name: { type: "string" } }, ["name"]);
const askOk = form("Please confirm", { ok: { type: "boolean" } }, ["ok"]);
const askModel = (prompt: string): InputRequest =>
  inputRequired.createMessage({
    messages: [{ role: "user", content: { type: "text", text: prompt } }],
    maxTokens: 100,
  });
const ask = (inputRequests: Record<string, InputRequest>, requestState?: string): InputRequiredResult =>
  inputRequired({ inputRequests, ...(requestState !== undefined && { requestState }) });

const accepted = (ctx: ServerContext, key: string): Arguments | undefined =>
  acceptedContent(ctx.mcpReq.inputResponses, key);
const answered = (ctx: ServerContext, key: string) => inputResponse(ctx.mcpReq.inputResponses, key);

const codec = createRequestStateCodec<{ step: number }>({
  key: "a key that serves the conformance tests only",
});

/** The step in the client's request state; 0 without a state. */
async function stepOf(ctx: ServerContext): Promise<number> {
  const state = ctx.mcpReq.requestState<string>();
  if (state === undefined) return 0;
  return codec.verify(state, ctx).then(
    ({ step }) => step,
    () => {
      throw invalid("The state was changed on its way.");
    },
  );
}

/** Asks with a form and returns any response as text. */
const reportForm =
  (said: string, request: (args: Arguments) => InputRequest): Run =>
  (ctx, args) => {
    const response = answered(ctx, "form");
    if (response.kind !== "elicit") return ask({ form: request(args) });
    return content(
      text(`${said}: action=${response.action}, content=${JSON.stringify(response.content ?? {})}`),
    );
  };

/** Asks for a name until it gets one, and greets. */
const greet: Run = (ctx) => {
  const name = accepted(ctx, "user_name")?.["name"];
  return typeof name === "string" ? content(text(`Hello, ${name}!`)) : ask({ user_name: askName });
};

/** Requests everything that the client supports, at once. */
const askByCapabilities: Run = (ctx) => {
  const { [CLIENT_CAPABILITIES_META_KEY]: can } = ctx.mcpReq.envelope as {
    [CLIENT_CAPABILITIES_META_KEY]: ClientCapabilities;
  };
  return ask({
    ...(can.elicitation && { user_name: askName }),
    ...(can.sampling && { greeting: askModel("Generate a greeting") }),
  });
};

const askTheModel =
  (prompt: (args: Arguments) => string): Run =>
  (ctx, args) => {
    const response = answered(ctx, "capital_question");
    if (response.kind !== "sampling") return ask({ capital_question: askModel(prompt(args)) });
    const { content: said } = response.result;
    return content(text(`LLM response: ${"text" in said ? said.text : "no text"}`));
  };

const confirmWithState: Run = async (ctx) =>
  (await stepOf(ctx)) === 0
    ? ask({ confirm: askOk }, await codec.mint({ step: 1 }))
    : content(text(`state-ok: ${JSON.stringify(accepted(ctx, "confirm"))}`));

const log =
  (...messages: string[]): Run =>
  async (ctx) => {
    for (const message of messages) {
      await ctx.mcpReq.log("info", message);
      await delay(50);
    }
    return content(text("Logged"));
  };

const options = ["option1", "option2", "option3"];
const titled = ["First", "Second", "Third"].map((title, i) => ({ const: `value${i + 1}`, title }));

const TOOLS: Readonly<Record<string, Run>> = {
  test_simple_text: () => content(text("This is a simple text response for testing.")),
  test_image_content: () => content(image),
  test_audio_content: () => content({ type: "audio", data: WAV, mimeType: "audio/wav" }),
  test_embedded_resource: () =>
    content(embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")),
  test_multiple_content_types: () =>
    content(
      text("Multiple content types test:"),
      image,
      embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ),
  test_error_handling: () => ({
    ...content(text("This tool intentionally returns an error for testing")),
    isError: true,
  }),
  test_tool_with_logging: log("Tool execution started", "Tool processing data", "Tool execution completed"),
  test_logging_tool: log("Nobody asked for this"),
  test_tool_with_progress: async (ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined) {
        await ctx.mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken, progress, total: 100 },
        });
      }
      await delay(50);
    }
    return content(text("Progress was reported"));
  },
  test_sampling: askTheModel((args) => String(args["prompt"])),
  test_missing_capability: askTheModel(() => "Anything"),
  test_elicitation: reportForm("User response", (args) =>
    form(String(args["message"]), { username: { type: "string" }, email: { type: "string" } }, [
      "username",
      "email",
    ]),
  ),
  test_streaming_elicitation: greet,
  test_elicitation_sep1034_defaults: reportForm("Elicitation completed", () =>
    form("Please look over the defaults", {
      name: { type: "string", default: "John Doe" },
      age: { type: "integer", default: 30 },
      score: { type: "number", default: 95.5 },
      status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
      verified: { type: "boolean", default: true },
    }),
  ),
  test_elicitation_sep1330_enums: reportForm("Elicitation completed", () =>
    form("Please choose", {
      untitledSingle: { type: "string", enum: options },
      titledSingle: { type: "string", oneOf: titled },
      legacyEnum: {
        type: "string",
        enum: ["opt1", "opt2", "opt3"],
        enumNames: ["Option One", "Option Two", "Option Three"],
      },
      untitledMulti: { type: "array", items: { type: "string", enum: options } },
      titledMulti: { type: "array", items: { anyOf: titled } },
    }),
  ),
  test_input_required_result_elicitation: greet,
  test_input_required_result_sampling: askTheModel(() => "What is the capital of France?"),
  test_input_required_result_list_roots: (ctx) => {
    const response = answered(ctx, "client_roots");
    return response.kind === "roots"
      ? content(text(`Roots: ${response.roots.map((root) => root.uri).join(", ")}`))
      : ask({ client_roots: inputRequired.listRoots() });
  },
  test_input_required_result_request_state: confirmWithState,
  test_input_required_result_tampered_state: confirmWithState,
  test_input_required_result_capabilities: askByCapabilities,
  test_input_required_result_multiple_inputs: async (ctx) => {
    const kinds = ["user_name", "greeting", "client_roots"].map((key) => answered(ctx, key).kind);
    if ((await stepOf(ctx)) === 1 && !kinds.includes("missing"))
      return content(text(`Got ${kinds.join(", ")}`));
    return ask(
      {
        user_name: askName,
        greeting: askModel("Generate a greeting"),
        client_roots: inputRequired.listRoots(),
      },
      await codec.mint({ step: 1 }),
    );
  },
  test_input_required_result_multi_round: async (ctx) => {
    const step = await stepOf(ctx);
    if (step === 2) return content(text(`Colour: ${JSON.stringify(accepted(ctx, "step2"))}`));
    const state = await codec.mint({ step: step + 1 });
    return step === 0
      ? ask({ step1: askName }, state)
      : ask(
          { step2: form("Step 2: What is your favorite color?", { color: { type: "string" } }, ["color"]) },
          state,
        );
  },
};

/** Changes the list of tools by publishing a workflow as a tool. */
const TOOL_CHANGE = "test_trigger_tool_change";

async function changeTools(served: McpHandlers, ctx: ServerContext): Promise<Answer> {
  const call = (name: string, args: Arguments) =>
    served.call({ method: "tools/call", params: { name, arguments: args } }, ctx) as Promise<CallToolResult>;
  const definition = { expose_as_tool: true, steps: [{ id: "one", type: "set", values: { n: 1 } }] };
  const created = await call("create_workflow", { name: "Conformance", definition });
  return call("publish_workflow", { workflow_id: (created.structuredContent as { id: string }).id });
}

/** The required string arguments of tools. */
const ARGUMENTS: Readonly<Record<string, string[]>> = {
  test_sampling: ["prompt"],
  test_elicitation: ["message"],
};

const strings = (names: readonly string[]) => ({
  type: "object" as const,
  properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
  required: [...names],
});

type Messages = GetPromptResult["messages"];
const said = (...blocks: ContentBlock[]): { messages: Messages } => ({
  messages: blocks.map((block) => ({ role: "user", content: block })),
});

interface Prompt {
  takes: readonly string[];
  get(args: Arguments, ctx: ServerContext): GetPromptResult | InputRequiredResult;
}

const PROMPTS: Readonly<Record<string, Prompt>> = {
  test_simple_prompt: { takes: [], get: () => said(text("This is a simple prompt for testing.")) },
  test_prompt_with_arguments: {
    takes: ["arg1", "arg2"],
    get: ({ arg1, arg2 }) =>
      said(text(`Prompt with arguments: arg1='${String(arg1)}', arg2='${String(arg2)}'`)),
  },
  test_prompt_with_embedded_resource: {
    takes: ["resourceUri"],
    get: ({ resourceUri }) =>
      said(
        embedded(String(resourceUri), "text/plain", "Embedded resource content for testing."),
        text("Please process the embedded resource above."),
      ),
  },
  test_prompt_with_image: { takes: [], get: () => said(image, text("Please analyze the image above.")) },
  test_input_required_result_prompt: {
    takes: [],
    get: (_args, ctx) => {
      const context = accepted(ctx, "user_context")?.["context"];
      return typeof context === "string"
        ? said(text(`Use this context: ${context}`))
        : ask({
            user_context: form("What context should the prompt use?", { context: { type: "string" } }, [
              "context",
            ]),
          });
    },
  },
};

const RESOURCES: Readonly<
  Record<string, { mimeType: string; text: string } | { mimeType: string; blob: string }>
> = {
  "test://static-text": { mimeType: "text/plain", text: "This is the content of the static text resource." },
  "test://static-binary": { mimeType: "image/png", blob: PNG },
  "test://watched-resource": { mimeType: "text/plain", text: "Somebody watches this." },
};

function read(uri: string): ReadResourceResult {
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id !== undefined) {
    const data = { id, templateTest: true, data: `Data for ID: ${id}` };
    return { contents: [{ uri, mimeType: "application/json", text: JSON.stringify(data) }] };
  }
  const resource = RESOURCES[uri];
  if (resource === undefined) throw invalid("Resource not found", { uri });
  return { contents: [{ uri, ...resource }] };
}

export const registerFixtures: ExtendServer = (server: Server, served: McpHandlers): void => {
  server.registerCapabilities({ logging: {}, completions: {}, prompts: {}, resources: { subscribe: true } });

  const listed = [...Object.keys(TOOLS), TOOL_CHANGE].map((name) => ({
    name,
    description: `Fixture of the conformance suite: ${name}`,
    inputSchema: strings(ARGUMENTS[name] ?? []),
  }));
  server.setRequestHandler("tools/list", () => ({ tools: [...served.tools, ...listed] }));
  server.setRequestHandler("tools/call", (request, ctx) => {
    const { name, arguments: args = {} } = request.params;
    if (name === TOOL_CHANGE) return changeTools(served, ctx);
    return TOOLS[name]?.(ctx, args) ?? served.call(request, ctx);
  });

  server.setRequestHandler("prompts/list", () => ({
    prompts: Object.entries(PROMPTS).map(([name, { takes }]) => ({
      name,
      description: `Fixture of the conformance suite: ${name}`,
      arguments: takes.map((it) => ({ name: it, description: it, required: true })),
    })),
  }));
  server.setRequestHandler("prompts/get", (request, ctx) => {
    const prompt = PROMPTS[request.params.name];
    if (prompt === undefined) throw invalid("Prompt not found");
    return prompt.get(request.params.arguments ?? {}, ctx);
  });

  server.setRequestHandler("resources/list", () => ({
    resources: Object.entries(RESOURCES).map(([uri, { mimeType }]) => ({
      uri,
      mimeType,
      name: uri,
      description: `Fixture of the conformance suite: ${uri}`,
    })),
  }));
  server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: [
      { uriTemplate: "test://template/{id}/data", name: "template", description: "A template" },
    ],
  }));
  server.setRequestHandler("resources/read", (request) => read(request.params.uri));
  server.setRequestHandler("resources/subscribe", () => ({}));
  server.setRequestHandler("resources/unsubscribe", () => ({}));
  server.setRequestHandler("completion/complete", () => ({ completion: { values: [] } }));
};
