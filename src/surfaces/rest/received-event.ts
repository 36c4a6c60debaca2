/** What a sender has sent, as expressions read it and as it is stored: without secrets and signatures. */
import type { Request } from "express";
import type { Issue } from "../../../schemas/problem.ts";
import { charsetOfMark, charsetParameter, decoderOf, parseContentType } from "../../core/charset.ts";
import { AppError } from "../../core/errors.ts";
import type { EventFields, ReceivedEvent } from "../../core/event-path.ts";
import { headerText, joinHeaderValues } from "../../core/header-text.ts";
import type { SignedRequest } from "../../core/webhook-signatures/index.ts";
import { nextTurnIfLarge } from "../../core/next-turn.ts";
import { assertUrlEncoded, hasOtherAscii } from "./body-meaning.ts";
import { parseJsonText } from "./body.ts";
import { type Field, groupFields, parseForm } from "./form-fields.ts";
import { parseMultipart } from "./multipart.ts";

/** Names of headers and parameters that hold what a sender proves itself with. */
const SECRET_NAME =
  /secret|token|signature|password|credential|^authorization$|^proxy-authorization$|cookie|api-?key|^x-goog-iap/i;

/**
 * @param body its bytes
 * @param secretHeader the header in which the trigger expects its secret
 * @returns the event, and the issues of values that it does not hold as they are written
 * @throws AppError invalid_json, unsupported_media_type; invalid_input for fields that can't be received, and for JSON that is
 *   nested too deep
 */
export async function receivedEvent(
  req: Request,
  body: Buffer,
  secretHeader: string | undefined,
): Promise<{ event: ReceivedEvent; issues: Issue[] }> {
  if (new Set(req.headersDistinct["content-type"]).size > 1)
    throw new AppError(
      "unsupported_media_type",
      "Content-Type is sent twice, with different values, and the body has one type. Send it once.",
    );
  const { issues, ...received } = await receivedBody(body, req.headers["content-type"] ?? "");
  const isShown = (name: string): boolean =>
    !SECRET_NAME.test(name) && name.toLowerCase() !== secretHeader?.toLowerCase();
  const headers = Object.entries(req.headersDistinct).flatMap(([name, values]) =>
    isShown(name) ? [[name, joinHeaderValues(values?.map(headerText))] as const] : [],
  );
  const query = Object.entries(req.query as EventFields).filter(([name]) => isShown(name));
  return {
    event: { ...received, headers: Object.fromEntries(headers), query: Object.fromEntries(query) },
    issues,
  };
}

/** What a signature is over, besides the headers. */
export const signedRequest = (req: Request, body: Buffer): SignedRequest => {
  // In `req.headers`, some that are sent more than once have their first value only.
  const headers = Object.entries(req.headersDistinct).map(
    ([name, values]) => [name, joinHeaderValues(values)] as const,
  );
  const contentType = req.headers["content-type"] ?? "";
  const at = req.originalUrl.indexOf("?");
  return {
    headers: Object.fromEntries(headers),
    body,
    search: at < 0 ? "" : req.originalUrl.slice(at),
    form: () => (isUrlEncoded(contentType) ? parseForm(body, contentType) : undefined),
  };
};

const isUrlEncoded = (contentType: string): boolean =>
  parseContentType(contentType)?.essence === "application/x-www-form-urlencoded";

type ReceivedBody = Pick<ReceivedEvent, "body" | "isForm"> & { issues: Issue[] };

async function receivedBody(bytes: Buffer, contentType: string): Promise<ReceivedBody> {
  await nextTurnIfLarge(bytes.length);
  const type = parseContentType(contentType)?.essence;
  if (isUrlEncoded(contentType)) {
    assertUrlEncoded(bytes);
    return formBody(parseForm(bytes, contentType));
  }
  if (type === "multipart/form-data") return formBody(await parseMultipart(bytes, contentType));
  const text = jsonText(bytes, contentType);
  if (text === "") return { body: null, issues: [] };
  try {
    const { value, issues } = await parseJsonText(text);
    return { body: value, issues };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "invalid_json") throw error;
    if (type === undefined || /[/+]json$/.test(type)) throw error;
    const sent = `Its Content-Type is ${type.slice(0, 100)}.`;
    throw new AppError("invalid_json", `${error.message}. ${sent} Send JSON, or a form.`);
  }
}

/** The fields of a form. Slack and GitHub send their JSON as its field `payload`: that is then the body. */
async function formBody(sent: readonly Field[]): Promise<ReceivedBody> {
  const fields = groupFields(sent);
  const payload = Object.hasOwn(fields, "payload") ? fields["payload"] : undefined;
  if (typeof payload !== "string" || !payload.startsWith("{"))
    return { body: fields, isForm: true, issues: [] };
  const { value, issues } = await parseJsonText(payload);
  return { body: value, issues };
}

/** JSON is UTF-8 (RFC 8259, section 8.1), unless a byte order mark or Content-Type says otherwise. */
function jsonText(bytes: Buffer, contentType: string): string {
  const declared = charsetOfMark(bytes) ?? charsetParameter(contentType);
  const charset = declared ?? "utf-8";
  const name = JSON.stringify(charset.slice(0, 50));
  const decode = decoderOf(charset, { hasMark: true });
  if (decode === undefined)
    throw new AppError(
      "unsupported_media_type",
      `The charset ${name} of the body is not known. Send it as UTF-8.`,
    );
  const text = decode(bytes);
  if (text !== undefined && hasOtherAscii(bytes, text))
    throw new AppError(
      "invalid_json",
      `The body is JSON in UTF-8, but Content-Type declares the charset ${name}. Declare the one that it is in.`,
    );
  if (text !== undefined) return text;
  const fix =
    declared === undefined
      ? "Send JSON encoded as UTF-8."
      : "Send JSON encoded as UTF-8, or declare its charset in Content-Type.";
  throw new AppError(
    "invalid_json",
    declared === undefined
      ? `The body is not valid UTF-8. ${fix}`
      : `The body is not valid text in its charset ${name}. ${fix}`,
  );
}
