/** The thread that parses and masks large responses. */
import { serveThread } from "../../core/serve-thread.ts";
import { StepError, type StepErrorCode, type StepErrorOptions } from "../../core/step-errors.ts";
import { createMasker, type Masker } from "../masking.ts";
import { parseBody, type ParseOptions } from "./parse-body.ts";
import type { RawHeaders } from "./response-headers.ts";

export interface ResponseTask {
  bytes: Uint8Array;
  headers: RawHeaders;
  options: ParseOptions;
  /** The values to mask. */
  secrets: readonly string[];
}

export type ResponseResult =
  /** JSON text. */
  { json: string } | { error: { code: StepErrorCode; message: string; options: StepErrorOptions } };

let last: { secrets: readonly string[]; mask: Masker } | undefined;

/** The secrets are those of the configuration, so they are the same each time. */
function maskerOf(secrets: readonly string[]): Masker {
  const isSame =
    last?.secrets.length === secrets.length &&
    last.secrets.every((secret, index) => secret === secrets[index]);
  if (!isSame) last = { secrets, mask: createMasker(secrets) };
  return last!.mask;
}

serveThread(({ bytes, headers, options: how, secrets }: ResponseTask): ResponseResult => {
  try {
    const mask = maskerOf(secrets);
    const body = parseBody(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), headers, mask, how);
    return { json: JSON.stringify(mask.json(body)) };
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    const { code, message, options } = error;
    return { error: { code, message, options } };
  }
});
