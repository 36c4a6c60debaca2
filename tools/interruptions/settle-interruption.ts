import { z } from "zod";
import { Interruption, InterruptionId, InterruptionOutcome } from "../../schemas/interruption.ts";
import { checkJsonValue, visible } from "../../schemas/text.ts";
import { IdempotencyKey } from "../../schemas/workflow.ts";
import { encodeJson } from "../../src/core/encoded-json.ts";
import { AppError } from "../../src/core/errors.ts";
import type { InterruptionRecord } from "../../src/core/interruption-ports.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { personalCause } from "../../src/core/run-causes.ts";
import { defineTool, type ToolContext } from "../../src/core/tool.ts";
import { deciderName } from "../approvals/decider-name.ts";
import { findInterruption, toInterruption } from "./serialize-interruption.ts";

/** Maximum size of an output that a person says, in characters of JSON. */
const MAX_OUTPUT_CHARS = 100_000;

export const settleInterruption = defineTool({
  name: "settle_interruption",
  title: "Settle an interruption",
  description:
    "Says whether the effect of an interrupted attempt happened. A step that waits for it (`on_interrupted: ask`) ends with output, is sent again, " +
    "or fails; a retry of a run that has ended does the same.",
  route: "POST /interruptions/:interruption_id/settle",
  surfaces: ["rest"],
  scope: "approve",
  effect: "act",
  errors: ["interruption_not_found", "interruption_settled", "idempotency_key_reused"],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({
    interruption_id: InterruptionId,
    outcome: InterruptionOutcome,
    output: z
      .record(z.string(), z.unknown())
      .check(checkJsonValue)
      .optional()
      .meta({
        description:
          "With `happened`: what the step would have returned, as far as it is known. Later steps read null for the rest.",
        example: { status_code: 201, body: { id: "pay_17" } },
      }),
    comment: visible("lines", 2_000).nullable().default(null).meta({
      description: "How it was found out.",
      example: "Seen in the ledger of the bank.",
    }),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: Interruption,
  async run({ interruption_id: id, outcome, output, comment }, ctx) {
    const encoded = outputOf(outcome, output);
    if (output !== undefined) await assertKnownFields(ctx, await findInterruption(ctx.read, id), output);
    const settledBy = deciderName(ctx.actor.principal);
    const settled = await ctx.write(async (tx) => {
      const found = await findInterruption(tx, id);
      const settler = personalCause("settled", ctx.actor.principal, id);
      const settlement = { outcome, output: encoded, settledBy, comment, settler };
      if (!(await ctx.engine.settleInterruption(tx, found, settlement)))
        throw alreadySettled(await findInterruption(tx, id));
      const { project, runId, stepId } = found;
      await tx.recordAudit(id, undefined, {
        project,
        details: { run_id: runId, step_id: stepId, outcome, output: encoded !== null },
      });
      return toInterruption(tx, (await tx.interruptions.find(id))!);
    });
    ctx.engine.wake();
    return settled;
  },
});

/** @throws AppError invalid_input for an output that nothing reads, or that is too large */
function outputOf(outcome: InterruptionOutcome, output: Record<string, unknown> | undefined) {
  if (output === undefined) return null;
  if (outcome !== "happened")
    throw invalidInput([
      {
        path: "output",
        code: "not_allowed",
        message: `is only for an effect that happened, and the outcome is ${outcome}`,
        fix: "Leave it out, or set outcome to happened.",
      },
    ]);
  const encoded = encodeJson(output);
  if (encoded.text.length <= MAX_OUTPUT_CHARS) return encoded;
  throw invalidInput([
    {
      path: "output",
      code: "too_long",
      message: `has ${encoded.text.length} characters of JSON; at most ${MAX_OUTPUT_CHARS} are allowed`,
      fix: "Send only the fields that later steps read.",
    },
  ]);
}

/** @throws AppError invalid_input for fields that no step of the type returns: later steps would read null in their place */
async function assertKnownFields(
  { read, engine }: ToolContext,
  { runId, stepId }: InterruptionRecord,
  output: Record<string, unknown>,
): Promise<void> {
  const run = await read.runs.find(runId);
  // It was purged meanwhile, and the interruption with it.
  if (run === undefined) return;
  const step = (await engine.getDefinition(run)).steps.find(({ id }) => id === stepId);
  const shape = engine.stepTypes.find(({ type }) => type === step?.type)?.output;
  if (shape?.kind !== "object" || shape.open === true) return;
  const allowed = Object.keys(shape.fields);
  const known = new Set(allowed);
  const unknown = Object.keys(output).filter((name) => !known.has(name));
  if (unknown.length > 0)
    throw invalidInput(
      unknown.map((name) => ({
        path: `output.${name}`,
        code: "not_allowed",
        message: `is no field of the output of a step of the type ${step!.type}`,
        allowed,
        fix: `Send what the step would have returned: ${allowed.join(", ")}.`,
      })),
    );
}

const alreadySettled = ({ id, outcome, settledBy, settledAt }: InterruptionRecord): AppError =>
  new AppError(
    "interruption_settled",
    `The interruption ${id} was settled at ${settledAt} by ${settledBy ?? "a lookup"}: ${outcome}.`,
  );
