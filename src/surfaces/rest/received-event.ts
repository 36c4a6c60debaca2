/** What a sender has sent, as expressions read it and as it is stored: without secrets and signatures. */
import type { Request } from "express";
import type { Issue } from "../../../schemas/problem.ts";
import { AppError } from "../../core/errors.ts";
import type { ReceivedEvent } from "../../core/event-path.ts";
import { parseJsonText } from "./body.ts";

/** Names of headers and parameters that hold what a sender proves itself with. */
const SECRET_NAME =
  /secret|token|signature|password|credential|^authorization$|^proxy-authorization$|cookie|api-?key|^x-goog-iap/i;
/** Maximum number of parameters of the query that are read. */
const MAX_PARAMETERS = 100;
const FORM = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;

/**
 * @param body its bytes
 * @param secretHeader the header in which the trigger expects its secret
 * @returns the event, and the issues of values that it does not hold as they are written
 * @throws AppError invalid_json; invalid_input where it is nested too deep
 */
export async function receivedEvent(
  req: Request,
  body: Buffer,
  secretHeader: string | undefined,
): Promise<{ event: ReceivedEvent; issues: Issue[] }> {
  const text = textOf(body);
  const { value, issues } = FORM.test(req.headers["content-type"] ?? "")
    ? await formValue(text)
    : text === ""
      ? { value: null, issues: [] }
      : await parseJsonText(text);
  const isShown = (name: string): boolean =>
    !SECRET_NAME.test(name) && name.toLowerCase() !== secretHeader?.toLowerCase();
  const headers = Object.entries(req.headers).flatMap(([name, header]) =>
    header === undefined || !isShown(name) ? [] : [[name, [header].flat().join(", ")] as const],
  );
  const query = Object.entries(req.query as Record<string, unknown>)
    .slice(0, MAX_PARAMETERS)
    .flatMap(([name, parameter]) => {
      const first: unknown = [parameter].flat()[0];
      return typeof first === "string" && isShown(name) ? [[name, first] as const] : [];
    });
  return {
    event: { body: value, headers: Object.fromEntries(headers), query: Object.fromEntries(query) },
    issues,
  };
}

function textOf(body: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    throw new AppError("invalid_json", "The body is not valid UTF-8. Send JSON encoded as UTF-8.");
  }
}

/** The fields of a form. Slack and GitHub send their JSON as its field `payload`: that is then the body. */
async function formValue(text: string): Promise<{ value: unknown; issues: Issue[] }> {
  const fields = Object.fromEntries(new URLSearchParams(text));
  const { payload } = fields;
  return payload?.startsWith("{") === true ? parseJsonText(payload) : { value: fields, issues: [] };
}
