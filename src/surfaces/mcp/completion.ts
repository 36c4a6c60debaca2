/** `completion/complete`: values for the variables of resource templates and the arguments of prompts. */
import {
  type CompleteRequest,
  type CompleteResult,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
} from "@modelcontextprotocol/server";
import { AppError } from "../../core/errors.ts";
import type { AnyStepType } from "../../core/step-type.ts";
import { type Operations, type OperationsOf, withProtocolErrors } from "./read-operation.ts";
import { findPrompt } from "./prompts.ts";
import { RESOURCE_KINDS } from "./resource-kinds.ts";
import { topicsOf } from "./resources.ts";

/** Maximum number of values, as MCP sets it. */
const MAX_VALUES = 100;

interface Suggestions {
  values: string[];
  /** Whether there are more than the operation has returned. */
  hasMore: boolean;
}

/** What a variable can be. @param context the values of the other variables */
type Suggest = (
  operations: Operations,
  typed: string,
  context: Readonly<Record<string, string>>,
) => Promise<Suggestions>;

interface Page {
  items: { id: string }[];
  next_cursor: string | null;
}

const startingWith = (values: readonly string[], typed: string): string[] =>
  values.filter((value) => value.startsWith(typed));

/** Registers the handler of completions on a new server. */
export function registerCompletion(
  server: Server,
  operationsOf: OperationsOf,
  stepTypes: readonly AnyStepType[],
): void {
  const suggestions = suggestionsBy(stepTypes);
  server.registerCapabilities({ completions: {} });
  server.setRequestHandler("completion/complete", (request, ctx) =>
    withProtocolErrors(ctx, async (): Promise<CompleteResult> => {
      const { name, value } = request.params.argument;
      const suggest = variablesOf(request).includes(name) ? suggestions[name] : undefined;
      if (suggest === undefined) return { completion: { values: [] } };
      const operations = operationsOf(server, ctx, "completion/complete");
      const context = request.params.context?.arguments ?? {};
      const { values, hasMore } = await suggest(operations, value, context).catch(nothingIfRefused);
      return {
        completion: {
          values: values.slice(0, MAX_VALUES),
          hasMore: hasMore || values.length > MAX_VALUES,
        },
      };
    }),
  );
}

/** The names that can be completed. @throws ProtocolError for an unknown template or prompt */
function variablesOf({ params: { ref } }: CompleteRequest): string[] {
  if (ref.type === "ref/prompt") return [findPrompt(ref.name).argument.name];
  const kind = RESOURCE_KINDS.find(({ template }) => template === ref.uri);
  if (kind !== undefined) return [...kind.template.matchAll(/\w+(?=\})/g)].map(([name]) => name);
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `There is no resource template ${JSON.stringify(ref.uri.slice(0, 200))}. resources/templates/list lists them.`,
  );
}

/** What the caller may not use, or can't find, has no completions. */
function nothingIfRefused(thrown: unknown): Suggestions {
  if (thrown instanceof AppError && thrown.status < 500) return { values: [], hasMore: false };
  throw thrown;
}

/** Of the newest ids that an operation lists. */
const newest =
  (operation: string): Suggest =>
  async ({ execute }, typed) => {
    const page = (await execute(operation, { limit: MAX_VALUES })) as Page;
    const ids = page.items.map(({ id }) => id);
    return { values: startingWith(ids, typed), hasMore: page.next_cursor !== null };
  };

function suggestionsBy(stepTypes: readonly AnyStepType[]): Readonly<Record<string, Suggest | undefined>> {
  return {
    async topic({ canUse }, typed) {
      const topics = canUse("describe_environment") ? await topicsOf(stepTypes) : [];
      return { values: startingWith(topics, typed), hasMore: false };
    },
    /** Also workflows whose name or description contains the text. */
    async workflow_id({ execute }, typed) {
      const search = typed.trim();
      const page = (await execute("list_workflows", {
        sort: "-updated_at",
        limit: MAX_VALUES,
        ...(search !== "" && { search }),
      })) as Page;
      const ids = page.items.map(({ id }) => id);
      const first = new Set(startingWith(ids, search));
      return {
        values: [...first, ...ids.filter((id) => !first.has(id))],
        hasMore: page.next_cursor !== null,
      };
    },
    run_id: newest("list_runs"),
    approval_id: newest("list_approvals"),
    async ref({ execute }, typed, { run_id: runId }) {
      if (runId === undefined) return { values: [], hasMore: false };
      const run = (await execute("get_run", { run_id: runId, detail: "steps" })) as {
        steps?: { id: string }[];
      };
      const outputs = (run.steps ?? []).map(({ id }) => `steps.${id}.output`);
      return { values: startingWith(["inputs", "output", ...outputs], typed), hasMore: false };
    },
  };
}
