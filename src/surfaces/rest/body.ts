/** A JSON body: read when its sender was let in, bounded, and its faults in our words. */
import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import express, { type Request, type Response } from "express";
import { AppError, toAppError } from "../../core/errors.ts";

/** As large as a body may be, in bytes. */
const BODY_LIMIT = 1024 * 1024;

const parseJson = express.json({
  limit: BODY_LIMIT,
  strict: false,
  type: () => true,
  verify(_req, _res, body, charset) {
    // The decoder would put a replacement character for every wrong byte, and that would be stored.
    if (charset === "utf-8" && !isUtf8(body)) throw new Error("not UTF-8");
  },
});

export const hasBody = (req: IncomingMessage): boolean =>
  req.headers["transfer-encoding"] !== undefined || Number(req.headers["content-length"] ?? 0) > 0;

/** Reads a JSON body, after the key was checked: nobody else makes us read a megabyte. */
export async function readBody(req: Request, res: Response, wanted: boolean): Promise<void> {
  if (!hasBody(req)) return;
  if (!wanted) {
    if (req.method === "GET" || req.method === "HEAD") return;
    throw new AppError(
      "invalid_input",
      `${req.method} takes no body here; send its values in the query string.`,
      {
        errors: [
          {
            path: "",
            code: "unexpected_body",
            message: "A body is not taken here",
            fix: "Use the query string.",
          },
        ],
      },
    );
  }
  if (!/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(req.headers["content-type"] ?? "")) {
    throw new AppError(
      "unsupported_media_type",
      "The body must be JSON. Send it with Content-Type: application/json.",
    );
  }
  await new Promise<void>((resolve, reject) => {
    parseJson(req, res, (error?: unknown) => (error === undefined ? resolve() : reject(error)));
  });
}

/** Errors of Express and its body parser as ours. */
export function fromExpress(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const { type, status, message } = error as { type?: string; status?: number; message?: string };
  switch (type) {
    case "entity.parse.failed":
      return new AppError("invalid_json", `The body is not valid JSON: ${message}`);
    case "entity.verify.failed":
      return new AppError("invalid_json", "The body is not valid UTF-8. Send JSON encoded as UTF-8.");
    case "entity.too.large":
      return new AppError(
        "payload_too_large",
        `The body is larger than ${BODY_LIMIT / 1024 / 1024} MiB. Send less.`,
      );
    case "charset.unsupported":
    case "encoding.unsupported":
      return new AppError(
        "unsupported_media_type",
        "Send the body as UTF-8, plain or compressed with gzip, deflate or br.",
      );
    default:
      // Whatever else Express blames the client for: a path that does not decode, a body that broke off.
      return typeof status === "number" && status >= 400 && status < 500
        ? new AppError("invalid_request", `The request can't be read: ${message}`)
        : toAppError(error);
  }
}
