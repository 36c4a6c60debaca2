/** The models of the configuration, called through the AI SDK. */
import type { Usage } from "../../core/model.ts";
import type { CallContext, ModelResponse, ModelRequest, Models } from "../../core/connections.ts";
import { nearMatch } from "../../core/near-match.ts";
import { lazy } from "../../core/lazy.ts";
import { NO_PROXIES, type OutgoingProxies } from "../../core/outgoing-proxy.ts";
import { type SecretSource, withSecrets } from "../../core/secret-source.ts";
import { StepError } from "../../core/step-errors.ts";
import { CORRECT_ENTRY, unusableNames } from "../../core/unusable-entries.ts";
import { type ConnectionConfig, missingFix } from "../limit-config.ts";
import type { Masker } from "../masking.ts";
import { secretMasker } from "../secret-masker.ts";
import { createBoundedFetch } from "./bounded-fetch.ts";
import { createTextGenerator, type GenerationResult } from "./generate.ts";
import { checkedFetch } from "./checked-fetch.ts";
import { isKeyRefusal, modelStepError, responseFailure } from "./errors.ts";
import { compileOutputSchema, type ParseAnswers } from "./output-schema.ts";
import { readAnswer } from "./read-answer.ts";
import { requiresApiKey, type ModelConfig } from "./vendors.ts";

/** Maximum size of prompt and system text together, in bytes. */
const MAX_PROMPT_BYTES = 1024 * 1024;

/**
 * @param secrets the values of the keys, which can change
 * @param options `now`: the current time in milliseconds, for `Retry-After` headers; `mask` removes secrets from answers,
 *   by default those of the configuration; `proxies`: the outgoing proxies, by default none
 */
export function createModels(
  config: Pick<ConnectionConfig, "models" | "unusable" | "isLimited">,
  secrets: SecretSource,
  options: { now: () => number; mask?: Masker; proxies?: OutgoingProxies },
): Models {
  const names = config.models.map((model) => model.name);
  const unusable = unusableNames(config, "models");
  const mask = options.mask ?? secretMasker(config, secrets);
  const entryOf = (name: string) => config.models.find((model) => model.name === name);
  const keyOf = (entry: ModelConfig): string =>
    entry.key_var === undefined ? "" : (secrets.get(entry.key_var) ?? "");
  // Loaded with the first call, because most processes call no model.
  const fetch = lazy(() => createBoundedFetch(options.proxies ?? NO_PROXIES));

  /** Why a model cannot be used; the text follows its name. */
  function unavailableReason(entry: ModelConfig): string | null {
    if (entry.key_var === undefined)
      return requiresApiKey(entry) ? "has no key_var, but its vendor requires a key" : null;
    const reason = secrets.missingReason(entry.key_var);
    return reason === null ? null : `has no key: ${reason}`;
  }

  function configured(name: string): ModelConfig {
    const entry = entryOf(name);
    const broken = unusable.find((other) => other.name === name);
    if (broken !== undefined)
      throw new StepError("environment", `The model "${name}" can't be used: ${broken.reason}.`, {
        fix: CORRECT_ENTRY,
      });
    if (entry === undefined) throw unknown(name, names, config);
    return entry;
  }

  async function generate(request: ModelRequest, { signal }: CallContext): Promise<ModelResponse> {
    const entry = configured(request.model);
    const variables = entry.key_var === undefined ? [] : [entry.key_var];
    return withSecrets(secrets, variables, { isRefusal: isKeyRefusal, signal }, () =>
      generateOnce(entry, request, signal),
    );
  }

  async function generateOnce(
    entry: ModelConfig,
    request: ModelRequest,
    signal: AbortSignal,
  ): Promise<ModelResponse> {
    const reason = unavailableReason(entry);
    if (reason !== null)
      throw new StepError("environment", `The model "${entry.name}" ${reason}.`, {
        fix: "Ask the operator to set it.",
      });
    const bytes = Buffer.byteLength(request.prompt) + Buffer.byteLength(request.system ?? "");
    if (bytes > MAX_PROMPT_BYTES)
      throw new StepError(
        "input_invalid",
        `The prompt must have at most ${MAX_PROMPT_BYTES} bytes, got ${bytes}.`,
        {
          fix: "Send fewer rows, or aggregate them with a sql step first.",
        },
      );
    const check = request.outputSchema === undefined ? null : compileOutputSchema(request.outputSchema);
    if (check !== null && "unusable" in check)
      throw new StepError("input_invalid", `output_schema ${check.unusable}.`, {
        fix: "Simplify it.",
      });
    const key = keyOf(entry);
    signal.throwIfAborted();
    const facts = { model: entry.name, mask };
    const checked = checkedFetch(fetch(), (response) =>
      responseFailure(response, { ...facts, now: options.now() }),
    );
    const generateText = createTextGenerator(entry, { key, fetch: checked.fetch }, request, signal);
    // Only an error of the call is one of the vendor: an error of reading its answer is our own.
    const ask: Ask = async (since) => {
      try {
        return await generateText(since);
      } catch (error) {
        // The reason why the step was stopped is more useful than the resulting network error.
        signal.throwIfAborted();
        throw modelStepError(error, facts, checked.lastResponse());
      }
    };
    const first = await ask([]);
    if (check === null) return answered(first, entry, { text: mask.text(first.text), object: null });
    const fitted = await fitting(first, ask, check.parse, { entry, mask });
    return { ...fitted, object: mask.json(fitted.object) };
  }

  return {
    list: () => [
      ...config.models.map((model) => ({
        name: model.name,
        type: model.vendor,
        model_ref: model.model_ref,
        unavailableReason: unavailableReason(model),
      })),
      ...unusable.map(({ name, reason }) => ({
        name,
        type: "unknown",
        model_ref: "",
        unavailableReason: `can't be used: ${reason}`,
      })),
    ],
    concurrencyOf: (name) => entryOf(name)?.concurrency ?? null,
    rateOf: (name) => entryOf(name)?.rate ?? null,
    generate,
  };
}

type Ask = ReturnType<typeof createTextGenerator>;

/** The model, and what hides secrets in its answers. */
interface AnswerContext {
  entry: ModelConfig;
  mask: Masker;
}

/** Returns the first answer if it fits the schema; otherwise asks the model once to correct it. */
async function fitting(
  first: GenerationResult,
  ask: Ask,
  parse: ParseAnswers,
  context: AnswerContext,
): Promise<ModelResponse> {
  const { entry } = context;
  const read = readObject(first, parse, context);
  if ("value" in read) return answered(first, entry, { text: null, object: read.value });
  const second = await ask([
    { role: "assistant", content: first.text === "" ? "(nothing)" : first.text },
    { role: "user", content: repairOf(read.issues) },
  ]);
  const both = { ...second, input: first.input + second.input, output: first.output + second.output };
  const again = readObject(both, parse, context);
  if ("value" in again) return answered(both, entry, { text: null, object: again.value });
  throw new StepError(
    "model_invalid_output",
    `The answer of "${entry.name}" does not match output_schema, even after a request to correct it: ${again.issues[0]}.`,
    {
      fix: "Say in the prompt what each field is for, simplify output_schema, or use another model.",
      details: { issues: again.issues },
      usage: usageOf(both, entry),
    },
  );
}

function readObject(
  reply: GenerationResult,
  parse: ParseAnswers,
  { entry, mask }: AnswerContext,
): { value: unknown } | { issues: string[] } {
  const usage = usageOf(reply, entry);
  let read: ReturnType<typeof readAnswer>;
  try {
    read = readAnswer({ text: reply.text, isCut: reply.finishReason === "length" }, parse, mask);
  } catch (error) {
    throw error instanceof StepError
      ? new StepError(error.code, error.message, { ...error.options, usage })
      : error;
  }
  if (read !== "cut") return read;
  throw new StepError(
    "model_invalid_output",
    `The answer of "${entry.name}" was truncated at its length limit.`,
    {
      fix: "Raise max_output_tokens, or request less.",
      details: { finish_reason: "length" },
      usage,
      transient: false,
    },
  );
}

const repairOf = (issues: readonly string[]): string =>
  `Your answer does not match the JSON Schema:\n${issues.map((issue) => `- ${issue}`).join("\n")}\n` +
  "Return the complete corrected answer as JSON, and nothing else.";

const usageOf = ({ input, output }: GenerationResult, { prices }: ModelConfig): Usage => ({
  input_tokens: input,
  output_tokens: output,
  cost: prices === undefined ? null : (input * prices.input + output * prices.output) / 1_000_000,
});

const answered = (
  reply: GenerationResult,
  entry: ModelConfig,
  given: Pick<ModelResponse, "text" | "object">,
): ModelResponse => ({
  ...given,
  usage: usageOf(reply, entry),
  finish_reason: reply.finishReason,
});

function unknown(
  name: string,
  names: readonly string[],
  config: Pick<ConnectionConfig, "isLimited">,
): StepError {
  const near = nearMatch(name, names);
  return new StepError(
    "environment",
    `There is no model "${name.slice(0, 100)}" in the configuration.` +
      (near === undefined ? ` Models: ${names.join(", ") || "none"}.` : ` Did you mean "${near}"?`),
    { fix: missingFix(config, "Use an existing model, or ask the operator to add it to models.") },
  );
}
