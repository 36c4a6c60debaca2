/** Writes the body of a request as a form, where its Content-Type says that it is one. */
import { charsetParameter, parseContentType } from "../../core/charset.ts";
import type { HttpRequest, PartialIssue } from "../../core/connections.ts";
import { formatPath } from "../../core/issues.ts";
import { StepError } from "../../core/step-errors.ts";
import { assertWellFormed } from "../../core/well-formed.ts";

type Fields = Readonly<Record<string, unknown>>;

const isForm = (type: string): boolean =>
  parseContentType(type)?.essence === "application/x-www-form-urlencoded";
const isScalar = (value: unknown): boolean => value === null || typeof value !== "object";

/** The Content-Type that a step sets; undefined if it sets none, or a secret. */
function contentTypeOf(headers: Fields): string | undefined {
  const type = Object.entries(headers).find(([name]) => name.toLowerCase() === "content-type")?.[1];
  return typeof type === "string" ? type : undefined;
}

/** The issues of a body that would be sent as a form, with paths in the step. Values that are not known yet are texts. */
export function formIssues(headers: Fields, body: unknown): PartialIssue[] {
  const type = contentTypeOf(headers) ?? "";
  if (body === undefined || typeof body === "string") return [];
  if (parseContentType(type)?.type === "multipart")
    return [
      {
        path: ["body"],
        code: "not_allowed",
        message: "can't be written in parts: Content-Type is multipart",
        fix: "Send a form as application/x-www-form-urlencoded, or the finished text of the parts.",
      },
    ];
  if (!isForm(type)) return [];
  if (isScalar(body) || Array.isArray(body))
    return [
      {
        path: ["body"],
        code: "wrong_type",
        message:
          "must be an object with the fields of the form, or text, because Content-Type is that of a form",
        fix: "Write an object, such as { tag: [a, b] }, or another Content-Type.",
      },
    ];
  return Object.entries(body as Fields).flatMap(([name, value]): PartialIssue[] =>
    [value].flat().every(isScalar)
      ? []
      : [
          {
            path: ["body", name],
            code: "wrong_type",
            message:
              "must be a text, number, boolean or null, or a list of these: a form has no objects and no lists of lists",
            fix: `Name the inner fields as the receiver does, such as "${name}[city]", or write the value as text with to_json(…).`,
          },
        ],
  );
}

/**
 * Writes a body that is sent as a form as its text: a list repeats the field, null omits it. Other requests stay as they are.
 * @throws StepError input_invalid
 */
export function withFormText(request: HttpRequest): HttpRequest {
  const { headers, body } = request;
  const [issue] = formIssues(headers, body);
  if (issue !== undefined) throw invalid(`${formatPath(issue.path ?? [])} ${issue.message}.`, issue.fix!);
  const type = contentTypeOf(headers) ?? "";
  if (isScalar(body) || !isForm(type)) return request;
  const charset = charsetParameter(type);
  if (charset !== undefined && !/^utf-?8$/i.test(charset))
    throw invalid(
      `A form is sent in UTF-8, and Content-Type declares the charset ${charset.slice(0, 50)}.`,
      "Declare charset=utf-8, or no charset.",
    );
  const fields = new URLSearchParams();
  // Only these are left: see formIssues.
  type Item = string | number | boolean | null;
  for (const [name, value] of Object.entries(body as Readonly<Record<string, Item | Item[]>>))
    for (const item of [value].flat()) {
      if (item === null) continue;
      const text = String(item);
      for (const written of [name, text]) assertWellFormed(formatPath(["body", name]), written);
      fields.append(name, text);
    }
  return { ...request, body: fields.toString() };
}

const invalid = (message: string, fix: string): StepError => new StepError("input_invalid", message, { fix });
