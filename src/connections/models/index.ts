/** The models of the configuration, called through the AI SDK. */
import type { Config } from "../../../schemas/config.ts";
import { isDeeperThan, MAX_JSON_DEPTH } from "../../../schemas/text.ts";
import type { ModelAnswer, ModelRequest, Models, Usage } from "../../core/connections.ts";
import { nearMatch } from "../../core/near-match.ts";
import { lazily } from "../../core/lazily.ts";
import { StepError } from "../../core/step-errors.ts";
import { shownVariable } from "../../core/variables.ts";
import { masker } from "../masking.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { generator, type Reply } from "./generate.ts";
import { modelError } from "./errors.ts";
import { schemaCheck } from "./output-schema.ts";
import { needsKey, type ModelEntry } from "./vendors.ts";

/** Of prompt and system text together. */
const MAX_PROMPT_BYTES = 1024 * 1024;

/**
 * @param env where the variables that hold the keys are looked up
 * @param options `now`: the present moment in milliseconds, for a vendor's `Retry-After`
 */
export function models(
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
  options: { now: () => number },
): Models {
  const names = config.models.map((it) => it.name);
  const entryOf = (name: string) => config.models.find((it) => it.name === name);
  const keyOf = (entry: ModelEntry): string =>
    entry.key_var === undefined ? "" : (env[entry.key_var] ?? "");
  // Loaded when a model is first called: most processes call none.
  const fetch = lazily(boundedFetch);

  /** Why it can't be used, as what follows its name. */
  function unusable(entry: ModelEntry): string | null {
    if (keyOf(entry) !== "") return null;
    if (entry.key_var !== undefined)
      return `has no key: ${shownVariable(entry.key_var)}, which its key_var names, is missing or empty`;
    return needsKey(entry) ? "has no key_var, and its vendor answers nobody without a key" : null;
  }

  function usable(name: string): ModelEntry {
    const entry = entryOf(name);
    if (entry === undefined) throw unknown(name, names);
    const reason = unusable(entry);
    if (reason === null) return entry;
    throw new StepError("environment", `The model "${name}" ${reason}.`, {
      fix: "The operator sets it and starts the service again.",
    });
  }

  async function generate(request: ModelRequest, signal: AbortSignal): Promise<ModelAnswer> {
    const entry = usable(request.model);
    const bytes = Buffer.byteLength(request.prompt) + Buffer.byteLength(request.system ?? "");
    if (bytes > MAX_PROMPT_BYTES)
      throw new StepError(
        "input_invalid",
        `The prompt is ${bytes} bytes; at most ${MAX_PROMPT_BYTES} can be sent.`,
        {
          fix: "Send fewer rows, or let a sql step sum them up first.",
        },
      );
    const check = request.outputSchema === undefined ? null : schemaCheck(request.outputSchema);
    if (check !== null && "unusable" in check)
      throw new StepError("input_invalid", `output_schema ${check.unusable}.`, {
        fix: "Write it more simply.",
      });
    const key = keyOf(entry);
    signal.throwIfAborted();
    try {
      const ask = generator(entry, { key, fetch: fetch() }, request, signal);
      const first = await ask([]);
      if (check === null) return answered(first, entry, { text: first.text, object: null });
      return await fitting(first, ask, check.faultsOf, entry);
    } catch (error) {
      // Why the step was stopped says more than how the connection took it.
      signal.throwIfAborted();
      throw await modelError(error, entry.name, masker([key]), options.now());
    }
  }

  return {
    list: () =>
      config.models.map((it) => ({
        name: it.name,
        type: it.vendor,
        model_ref: it.model_ref,
        unusable: unusable(it),
      })),
    concurrencyOf: (name) => entryOf(name)?.concurrency ?? null,
    generate,
  };
}

type Ask = ReturnType<typeof generator>;

/** The first answer if it fits, else what the model makes of its faults. */
async function fitting(
  first: Reply,
  ask: Ask,
  faultsOf: (value: unknown) => string[],
  entry: ModelEntry,
): Promise<ModelAnswer> {
  const read = readObject(first, faultsOf, entry);
  if (read.faults.length === 0) return answered(first, entry, { text: null, object: read.value });
  const second = await ask([
    { role: "assistant", content: first.text === "" ? "(nothing)" : first.text },
    { role: "user", content: repairOf(read.faults) },
  ]);
  const both = { ...second, input: first.input + second.input, output: first.output + second.output };
  const again = readObject(both, faultsOf, entry);
  if (again.faults.length === 0) return answered(both, entry, { text: null, object: again.value });
  throw new StepError(
    "model_invalid_output",
    `The answer of "${entry.name}" does not fit output_schema, and did not after it was told so: ${again.faults[0]}.`,
    {
      fix: "Say in the prompt what each field is for, simplify output_schema, or use another model.",
      details: { faults: again.faults },
      usage: usageOf(both, entry),
    },
  );
}

function readObject(
  reply: Reply,
  faultsOf: (value: unknown) => string[],
  entry: ModelEntry,
): { value?: unknown; faults: string[] } {
  let value: unknown;
  try {
    // Some models wrap it into a fence of Markdown, whatever they are told.
    value = JSON.parse(/^\s*```(?:json)?\s*\n([\s\S]*)\n\s*```\s*$/.exec(reply.text)?.[1] ?? reply.text);
  } catch {
    if (reply.finishReason === "length")
      throw new StepError(
        "model_invalid_output",
        `The answer of "${entry.name}" was cut at its length limit.`,
        {
          fix: "Raise max_output_tokens, or ask for less.",
          details: { finish_reason: "length" },
          usage: usageOf(reply, entry),
          transient: false,
        },
      );
    return { faults: ["it is not JSON"] };
  }
  if (isDeeperThan(value, MAX_JSON_DEPTH))
    return { faults: [`it is nested deeper than ${MAX_JSON_DEPTH} levels`] };
  return { value, faults: faultsOf(value) };
}

const repairOf = (faults: readonly string[]): string =>
  `That does not fit the JSON Schema:\n${faults.map((it) => `- ${it}`).join("\n")}\n` +
  "Give the whole answer again, corrected, as JSON and nothing else.";

const usageOf = ({ input, output }: Reply, { prices }: ModelEntry): Usage => ({
  input_tokens: input,
  output_tokens: output,
  cost: prices === undefined ? null : (input * prices.input + output * prices.output) / 1_000_000,
});

const answered = (
  reply: Reply,
  entry: ModelEntry,
  given: Pick<ModelAnswer, "text" | "object">,
): ModelAnswer => ({
  ...given,
  usage: usageOf(reply, entry),
  finish_reason: reply.finishReason,
});

function unknown(name: string, names: readonly string[]): StepError {
  const near = nearMatch(name, names);
  return new StepError(
    "environment",
    `There is no model "${name.slice(0, 100)}" in the configuration.` +
      (near === undefined ? ` There are: ${names.join(", ") || "none"}.` : ` Did you mean "${near}"?`),
    { fix: "Use one that is there, or have the operator add it to models." },
  );
}
