/** Asking the person behind a client, by MCP's elicitation, for what an operation needs to know first. */
import {
  type ElicitInputParams,
  inputRequired,
  type InputRequiredResult,
  inputResponse,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { AppError } from "../../core/errors.ts";
import type { AnyTool } from "../../core/tool.ts";
import { type Call, withTelemetry, prepare, type Services } from "../invoke.ts";

const KEY = "answer";

/** Whether the client can show a person a form. */
export function supportsFormElicitation(server: Server): boolean {
  const { elicitation } = server.getClientCapabilities() ?? {};
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

/**
 * The input with what the person has answered; or the question, to be sent. The client then sends the same call again,
 * with the answer beside it.
 * @throws AppError those of `prepare` and of the tool's question; confirmation_needed when the person gave no answer
 */
export async function elicitMissingInput(
  services: Services,
  tool: AnyTool,
  input: Record<string, unknown>,
  call: Call,
  ctx: ServerContext,
): Promise<{ input: Record<string, unknown> } | { question: InputRequiredResult }> {
  if (tool.elicitation === undefined) return { input };
  return withTelemetry(services, { name: `${tool.name}.question` }, call, async () => {
    const question = await prepare(services, tool, input, call).question();
    if (question === undefined) return { input };
    const { message, schema: requestedSchema, toInput } = question;
    const given = inputResponse(ctx.mcpReq.inputResponses, KEY);
    if (given.kind !== "elicit") {
      const params = { message, requestedSchema } as ElicitInputParams;
      return { question: inputRequired({ inputRequests: { [KEY]: inputRequired.elicit(params) } }) };
    }
    if (given.action === "accept") return { input: { ...input, ...toInput(given.content ?? {}) } };
    throw new AppError(
      "confirmation_needed",
      "The person was asked and gave no answer, so nothing was done. Call this again to ask again.",
    );
  });
}
