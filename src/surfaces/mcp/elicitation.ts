/** Asks the person behind a client for missing input, with MCP's elicitation. */
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

/** Key of the question in the client's responses. */
const KEY = "answer";

/** Whether the client can show a person a form. */
export function supportsFormElicitation(server: Server): boolean {
  const { elicitation } = server.getClientCapabilities() ?? {};
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

/**
 * Returns the input completed with the person's answer, or the question to send. The client then repeats the call with the
 * answer.
 * @throws AppError those of `prepare` and of the tool's question; confirmation_needed when the person declined to answer
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
    const answer = inputResponse(ctx.mcpReq.inputResponses, KEY);
    if (answer.kind !== "elicit") {
      const params = { message, requestedSchema } as ElicitInputParams;
      return { question: inputRequired({ inputRequests: { [KEY]: inputRequired.elicit(params) } }) };
    }
    if (answer.action === "accept") return { input: { ...input, ...toInput(answer.content ?? {}) } };
    throw new AppError(
      "confirmation_needed",
      "The person was asked and did not answer, so nothing was done. Repeat the call to ask again.",
    );
  });
}
