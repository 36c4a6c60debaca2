/** The MCP server of one request, session or stream. It is a thin layer over the catalogue, and cheap to create. */
import {
  type CallToolRequest,
  type CallToolResult,
  type InputRequiredResult,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { z } from "zod";
import type { Scope } from "../../../schemas/actor.ts";
import type { Issue } from "../../../schemas/problem.ts";
import type { Run } from "../../../schemas/run.ts";
import { type Access, isAlwaysAllowed, mayUseTool } from "../../core/access.ts";
import { AppError, ERRORS, toAppError, toProblem } from "../../core/errors.ts";
import { sizeUpTo } from "../../core/json-schema/json-size.ts";
import { invalidInput } from "../../core/issues.ts";
import { nearMatch } from "../../core/near-match.ts";
import { nextTurn } from "../../core/next-turn.ts";
import type { Principal } from "../../core/ports.ts";
import { type AnyTool, type Progress, isServedOn } from "../../core/tool.ts";
import { usageSubjectOf } from "../../core/usage-limits.ts";
import { PURPOSE } from "../agent-texts.ts";
import { type Call, invoke, LARGE_INPUT, type Services } from "../invoke.ts";
import { APPS, type Link, type McpApps, supportsApps } from "./apps.ts";
import { CACHE_HINTS } from "./cache-hints.ts";
import { argumentReader, type ReadArguments } from "./arguments.ts";
import { elicitMissingInput, supportsFormElicitation } from "./elicitation.ts";
import {
  type ExposedTool,
  exposedWorkflows,
  findExposed,
  listedExposed,
  listedIssues,
  readInputs,
} from "./exposed-workflows.ts";
import { registerCompletion } from "./completion.ts";
import { introduced, named } from "./implementation.ts";
import { registerPrompts } from "./prompts.ts";
import { operationsFor } from "./read-operation.ts";
import { callOf, identityOf } from "./request-identity.ts";
import { RESOURCE_KINDS } from "./resource-kinds.ts";
import { registerSubscriptions, type SubscriptionServices } from "./resource-subscriptions.ts";
import { registerResources } from "./resources.ts";
import { takeFields } from "./selected-fields.ts";
import { skillsOf } from "./skills.ts";
import { type TaskWatcher, taskWatcher } from "./task-watcher.ts";
import {
  createdTask,
  GET_TASK,
  serveTasks,
  supportsTasks,
  type TaskContext,
  TASKS,
  toResult,
} from "./tasks.ts";
import { listTools, type ListedTool, toolLists } from "./tool-list.ts";

/** The tools and the call handler of a server. */
export interface McpHandlers {
  tools: readonly ListedTool[];
  call(request: CallToolRequest, ctx: ServerContext): Promise<CallToolResult | InputRequiredResult>;
}

/** Registers further handlers on a new server, beside or around those of the catalogue. */
export type ExtendServer = (server: Server, handlers: McpHandlers) => void;

export interface McpServerOptions {
  catalogue: readonly AnyTool[];
  services: Services;
  version: string;
  /** How long runs are kept after their end, in milliseconds. */
  keptRunsMs: number;
  /** The address of the web interface. */
  webAddress: () => Promise<string>;
  /** Undefined when the pages of the views are not built. */
  apps?: McpApps | undefined;
  watched: SubscriptionServices;
  extendServer?: ExtendServer | undefined;
}

/** Reports errors that no response can carry. */
export interface ErrorReporter {
  /** Reports an internal error. */
  onError(this: void, error: unknown): void;
  /** Reports a message that the SDK refused. */
  onRejected(this: void, error: Error): void;
}

export interface McpServerFactory {
  /**
   * Creates a server; it holds no state.
   * @param options.introduces whether it says more of itself than its name. A client of 2026-07-28 gets that with each answer
   */
  create(options: { introduces: boolean }): Promise<Server>;
  /** The workflows that are exposed as tools, of all projects. */
  exposedTools(): Promise<readonly ExposedTool[]>;
  /** The scope that a tool needs; undefined for a tool that the caller can't find. */
  scopeOf(tool: string, principal: Principal): Promise<Scope | undefined>;
  watchTasks: TaskWatcher;
  /** Number of calls in flight. */
  inFlight(): number;
}

const INSTRUCTIONS =
  `${PURPOSE} Call describe_environment first. If it names a workflow for the task, or list_workflows finds one among many, run that with ` +
  "run_workflow. To write one: look at data with query_database, create_workflow (or try steps with run_step, and create it from these " +
  "runs), fix its issues with update_workflow, plan_workflow, a trial by run_workflow with given, publish_workflow. When a run " +
  "fails: get_run, then retry_run. Error messages say what to do next.";

/** The operation that runs an exposed workflow. */
const RUN_WORKFLOW = "run_workflow";

/** Creates MCP servers for one catalogue; lists and schemas are computed once. */
export function mcpServerFactory({
  catalogue,
  services,
  version,
  keptRunsMs,
  webAddress,
  apps,
  watched,
  extendServer,
}: McpServerOptions): McpServerFactory {
  const tools = new Map(catalogue.filter((tool) => isServedOn(tool, "mcp")).map((tool) => [tool.name, tool]));
  const readers = new Map(
    [...tools].map(([name, tool]) => [name, argumentReader(tool.input as z.ZodObject)] as const),
  );
  const listed = { tools: listTools(catalogue) };
  const toolsOf = toolLists(listed.tools, (name) => tools.get(name)!);
  const runWorkflow = listed.tools.find(({ name }) => name === RUN_WORKFLOW);
  const { workflows } = services.read;
  const { stepTypes } = services.engine;
  const exposedTools = exposedWorkflows(workflows, runWorkflow, new Set(tools.keys()));
  const skills = skillsOf(exposedTools);
  let running = 0;
  const webUrl: TaskContext["webUrl"] = async (path) => `${await webAddress()}${path}`;
  const taskContext = (): TaskContext => ({ now: services.clock.now(), keptMs: keptRunsMs, webUrl });
  // Also operations that are read as resources and have no tool.
  const operations = new Map(catalogue.filter(isReadable).map((tool) => [tool.name, tool]));
  const operationsOf = operationsFor(services, operations, async (work) => {
    running += 1;
    try {
      return await work();
    } finally {
      running -= 1;
    }
  });

  async function call(
    server: Server,
    { params: { name, arguments: args } }: CallToolRequest,
    ctx: ServerContext,
  ): Promise<CallToolResult | InputRequiredResult> {
    const { principal, requestId, argumentIssues, callKey, canAsk } = identityOf(ctx);
    const resolved = await resolveTool(name, args ?? {}, principal);
    const { tool, input: whole, issues: found, exposed } = resolved;
    running += 1;
    try {
      // The SDK has copied the arguments in this turn of the event loop.
      if (sizeUpTo(args, LARGE_INPUT) === undefined) await nextTurn();
      const shared = callOf(server, ctx, "tools/call");
      const request: Call = {
        ...shared,
        calledAs: name,
        idempotencyKey: callKey,
        progress: progressOf(ctx),
        attributes: { ...shared.attributes, "gen_ai.tool.name": tool.name },
      };
      const { input, select } = takeFields(tool, whole, principal);
      const sent = [...argumentIssues, ...found];
      const issues = exposed === undefined ? sent : sent.map(belowInputs);
      const elicited =
        issues.length === 0 && canAsk && supportsFormElicitation(server)
          ? await elicitMissingInput(services, tool, input, request, ctx)
          : { input };
      if ("question" in elicited) return elicited.question;
      const output = await invoke(services, tool, elicited.input, request, issues);
      return isUnfinishedRun(tool, output) && supportsTasks(server) && mayUseTool(principal.access, GET_TASK)
        ? await createdTask(output, taskContext())
        : toResult(select(output));
    } catch (thrown) {
      const error = toAppError(thrown);
      if (exposed === undefined) return toErrorResult(error, requestId);
      const owner = usageSubjectOf(principal);
      const explained =
        error.code === "invalid_input"
          ? await listedIssues(services.engine.validation, exposed, args ?? {}, owner, argumentIssues)
          : undefined;
      return toErrorResult(explained ?? aboutArguments(error), requestId);
    } finally {
      running -= 1;
    }
  }

  /** The tools that a caller can use: operations, then workflows. */
  const usableTools = async (access: Access, link: Link = (tool) => tool): Promise<ListedTool[]> => [
    ...toolsOf(access).map((tool) => link(tool, tool.name)),
    ...listedExposed(await exposedTools(), access).map(({ tool }) => link(tool, RUN_WORKFLOW)),
  ];

  /** Finds the operation of a tool name, with its input; for the tool of a workflow, the issues are below `inputs` of it. */
  async function resolveTool(
    name: string,
    args: Record<string, unknown>,
    principal: Principal,
  ): Promise<ReadArguments & { tool: AnyTool; exposed?: ExposedTool }> {
    const tool = tools.get(name);
    if (tool !== undefined) return { tool, ...readers.get(name)!(args) };
    const { access } = principal;
    const exposed = findExposed(await exposedTools(), access, name);
    if (exposed === undefined) throw unknownTool(name, await usableTools(access));
    const { validation } = services.engine;
    const { input: inputs, issues } = await readInputs(validation, exposed, args, usageSubjectOf(principal));
    const input = { workflow_id: exposed.workflowId, inputs };
    return { tool: tools.get(RUN_WORKFLOW)!, input, issues, exposed };
  }

  return {
    exposedTools,
    async scopeOf(name, { access }) {
      const tool = tools.get(name);
      if (tool !== undefined) return isAlwaysAllowed(access, name) ? undefined : tool.scope;
      return findExposed(await exposedTools(), access, name) && tools.get(RUN_WORKFLOW)!.scope;
    },
    watchTasks: taskWatcher(services, tools.get(GET_TASK), taskContext),
    inFlight: () => running,
    async create({ introduces }) {
      const mcp = new McpServer(introduces ? introduced(version, await webAddress()) : named(version), {
        // Set for resources too, because the SDK would announce changes of their list, of which nothing notifies.
        capabilities: {
          tools: { listChanged: true },
          resources: { listChanged: false },
          extensions: { [TASKS]: {}, ...(apps !== undefined && { [APPS]: {} }) },
        },
        instructions: INSTRUCTIONS,
        cacheHints: CACHE_HINTS,
      });
      // Before the resources: the handlers of resources that the SDK registers with skills are replaced by ours.
      skills.extension.attach(mcp);
      const { server } = mcp;
      const served: McpHandlers = { ...listed, call: (request, ctx) => call(server, request, ctx) };
      server.setRequestHandler("tools/list", async ({ params }, ctx) => {
        if (params?.cursor !== undefined) throw unknownCursor();
        const link = supportsApps(server) ? apps?.link : undefined;
        return { tools: await usableTools(identityOf(ctx).principal.access, link) };
      });
      server.setRequestHandler("tools/call", served.call);
      registerResources(server, operationsOf, stepTypes, { readSkill: skills.read, apps });
      registerSubscriptions(server, operationsOf, watched);
      registerPrompts(server, operationsOf);
      registerCompletion(server, operationsOf, stepTypes);
      serveTasks(server, operationsOf, taskContext);
      extendServer?.(server, served);
      return server;
    },
  };
}

const isReadable = (tool: AnyTool): boolean =>
  isServedOn(tool, "mcp") || RESOURCE_KINDS.some(({ operation }) => operation === tool.name);

/** Whether an operation has started a run that is still going on: such an operation has a place to ask for its end. */
const isUnfinishedRun = (tool: AnyTool, output: unknown): output is Run =>
  tool.pollLocation?.(output) !== undefined;

/** Sends progress notifications if the client has asked for them. MCP requires that the value grows each time. */
function progressOf({ mcpReq }: ServerContext): ((progress: Progress) => void) | undefined {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let last = -1;
  return ({ done, total, message }) => {
    if (done <= last) return;
    last = done;
    // A client that has gone is noticed by the signal.
    mcpReq
      .notify({
        method: "notifications/progress",
        params: { progressToken, progress: done, total, message },
      })
      .catch(() => {});
  };
}

const INPUTS = "inputs";

const belowInputs = (issue: Issue): Issue =>
  Object.assign({}, issue, { path: issue.path === "" ? INPUTS : `${INPUTS}.${issue.path}` });

/** Makes the issues of an error refer to the arguments that were sent, which are the inputs of the operation. */
function aboutArguments(error: AppError): AppError {
  const { errors, headers } = error.details;
  if (errors === undefined) return error;
  const relative = errors.map(withoutInputs);
  if (error.code === "invalid_input") return invalidInput(relative);
  return new AppError(error.code, error.message, { errors: relative, ...(headers && { headers }) });
}

const withoutInputs = (issue: Issue): Issue => {
  const { path } = issue;
  const inside = path === INPUTS || path.startsWith(`${INPUTS}.`);
  return inside ? { ...issue, path: path.slice(INPUTS.length + 1) } : issue;
};

/** An error as a tool result with the problem details of REST, or as a protocol error. */
function toErrorResult(error: AppError, requestId: string) {
  if (ERRORS[error.code].mcp === "protocol") {
    throw new ProtocolError(ProtocolErrorCode.InvalidRequest, error.message, toProblem(error, requestId));
  }
  return {
    isError: true,
    content: [{ type: "text" as const, text: JSON.stringify(toProblem(error, requestId)) }],
  };
}

function unknownTool(name: string, tools: readonly ListedTool[]): ProtocolError {
  const names = tools.map((tool) => tool.name);
  const near = nearMatch(name, names);
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `There is no tool "${name.slice(0, 100)}". ` +
      (near === undefined ? `The tools are: ${names.join(", ")}.` : `Did you mean ${near}?`),
  );
}

const unknownCursor = (): ProtocolError =>
  new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    "The list of tools has one page, so this cursor is not one of its own. Leave cursor out.",
  );
