/** Reads forms in parts (multipart/form-data, RFC 7578). Their fields are text; files are refused by name. */
import { charsetParameter, headerParameters, parseContentType } from "../../core/charset.ts";
import { AppError } from "../../core/errors.ts";
import { formatPath, invalidInput } from "../../core/issues.ts";
import { assertMultipart } from "./body-meaning.ts";
import {
  assertFieldCount,
  decodeFields,
  decoderOfForm,
  type Field,
  formCharset,
  notInCharset,
} from "./form-fields.ts";

/** Maximum number of files that a refusal names. */
const MAX_FILES = 20;

/**
 * @returns the fields in order; a file input without a file is none
 * @throws AppError invalid_input
 */
export async function parseMultipart(body: Buffer, contentType: string): Promise<Field[]> {
  const boundary = parseContentType(contentType)?.params.get("boundary") ?? "";
  if (boundary === "") throw malformed("Content-Type names no boundary");
  assertMultipart(body, boundary);
  const source = body.toString("latin1");
  const heads = headsOf(source, boundary);
  assertFieldCount(heads.length);
  const encoded = heads.findIndex((head) =>
    headerParameters(disposition(head)).some(([name]) => name === "name*"),
  );
  if (encoded >= 0) throw encodedName(encoded);
  const entries = await entriesOf(source, contentType);
  if (heads.length !== entries.length) throw malformed("it has other parts than its boundary says");
  const files = entries.filter(
    ([, value]) => typeof value !== "string" && (value.name !== "" || value.size > 0),
  );
  if (files.length > 0) throw filesRefused(files as [string, File][]);
  const fields = entries.flatMap(([name, value], index) =>
    typeof value === "string" ? [{ field: [name, value] as const, head: heads[index]! }] : [],
  );
  const charset = formCharset(
    "",
    fields.map(({ field }) => field),
  );
  return fields.flatMap(({ field, head }) => {
    const encoding = /^content-transfer-encoding:[ \t]*(\S+)/im.exec(head)?.[1]?.toLowerCase() ?? "8bit";
    if (!["7bit", "8bit", "binary"].includes(encoding)) throw encodingRefused(field[0], encoding);
    const type = /^content-type:[ \t]*([^\r\n]+)/im.exec(head)?.[1];
    const own = charsetParameter(type) ?? charset;
    return decodeFields([field], decoderOfForm(own), (name) => notInCharset(name, own));
  });
}

const disposition = (head: string): string | undefined =>
  /^content-disposition:[ \t]*([^\r\n]+)/im.exec(head)?.[1];

/** The parser decodes UTF-8, so it gets each byte as a character, which it returns as it is. */
async function entriesOf(source: string, contentType: string): Promise<[string, string | File][]> {
  try {
    const form = await new Response(Buffer.from(source, "utf8"), {
      headers: { "Content-Type": contentType },
    }).formData();
    return [...form] as [string, string | File][];
  } catch {
    throw malformed("a part or the last boundary is not as RFC 7578 describes it");
  }
}

/** The headers of the parts, which the parser does not return. */
function headsOf(source: string, boundary: string): string[] {
  const heads: string[] = [];
  for (const part of `\r\n${source}`.split(`\r\n--${boundary}`).slice(1)) {
    if (part.startsWith("--")) break;
    heads.push(part.slice(0, part.indexOf("\r\n\r\n")));
  }
  return heads;
}

const malformed = (why: string): AppError =>
  new AppError(
    "invalid_input",
    `The body is not valid multipart/form-data: ${why}. Send it as a library for HTTP writes it, or as JSON.`,
  );

const filesRefused = (files: readonly [string, File][]): AppError =>
  invalidInput(
    files.slice(0, MAX_FILES).map(([name, file]) => ({
      path: formatPath([utf8(name).slice(0, 100)]),
      code: "not_allowed",
      message: `is the file ${JSON.stringify(utf8(file.name).slice(0, 100))}, and files can't be received`,
      fix: "Send the address of the file, or its content as base64 in a field.",
    })),
  );

const encodedName = (index: number): AppError =>
  invalidInput([
    {
      path: formatPath(["parts", index]),
      code: "not_allowed",
      message: "has its name as name*, which forms do not have (RFC 7578, section 5.1)",
      fix: 'Write the name in UTF-8 as it is: Content-Disposition: form-data; name="größe".',
    },
  ]);

const encodingRefused = (name: string, encoding: string): AppError =>
  invalidInput([
    {
      path: formatPath([utf8(name).slice(0, 100)]),
      code: "not_allowed",
      message: `has the Content-Transfer-Encoding ${JSON.stringify(encoding.slice(0, 50))}, which forms do not have (RFC 7578, section 4.7)`,
      fix: "Leave out the header.",
    },
  ]);

/** A name for a message, of a string with a character for each byte. */
const utf8 = (bytes: string): string => Buffer.from(bytes, "latin1").toString("utf8");
