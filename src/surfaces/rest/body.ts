/** JSON bodies of requests, with a size limit. Errors of the parser become problem details; nothing of the text is lost. */
import type { IncomingMessage } from "node:http";
import express, { type Request, type RequestHandler, type Response } from "express";
import type { Issue } from "../../../schemas/problem.ts";
import { decodeStrictly, jsonEncodingOf, otherJsonCharset } from "../../core/charset.ts";
import { AppError, toAppError } from "../../core/errors.ts";
import { assertRequestDepth } from "../../core/json-nesting.ts";
import { scanJson } from "../../core/json-scan.ts";
import { lossIssues } from "../../core/json-text.ts";
import { nextTurnIfLarge } from "../../core/next-turn.ts";

/** Maximum size of a body, in bytes. */
const MAX_BYTES = 1024 * 1024;

/**
 * Reads the body to `req.body`.
 * @param expected whether the request takes a body
 * @returns the issues of values that the parsed body does not hold as they are written
 * @throws AppError invalid_json, unsupported_media_type, invalid_input; what Express throws
 */
type ReadBody = (req: Request, res: Response, expected: boolean) => Promise<Issue[]>;

export const hasBody = (req: IncomingMessage): boolean =>
  req.headers["transfer-encoding"] !== undefined || Number(req.headers["content-length"] ?? 0) > 0;

/** Reads a body with a parser of Express, once its caller may send one. @throws what Express throws */
export const readWith = (read: RequestHandler, req: Request, res: Response): Promise<void> =>
  new Promise((resolve, reject) => {
    void read(req, res, (error?: unknown) => (error === undefined ? resolve() : reject(error)));
  });

/** The encodings of JSON bodies. */
const ENCODINGS: ReadonlySet<string> = new Set(["utf-8", "utf-16le", "utf-16be"]);

function rawReader(options: { limit: number; inflate: boolean }): RequestHandler {
  return express.raw({ ...options, type: () => true });
}

const bytesOf = ({ body }: Request): Buffer => (Buffer.isBuffer(body) ? body : Buffer.alloc(0));

/**
 * Creates a reader of JSON bodies.
 * @param limit maximum size in bytes, after decompression
 * @param inflate whether compressed bodies are accepted
 */
function bodyReader({ limit, inflate }: { limit: number; inflate: boolean }): ReadBody {
  // Not parsed: duplicate keys and long integers are in the text only.
  const readRaw = rawReader({ limit, inflate });
  return async (req, res, expected) => {
    if (!hasBody(req)) return [];
    if (!expected) {
      if (req.method === "GET" || req.method === "HEAD") return [];
      throw unexpectedBody(req.method);
    }
    if (!/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(req.headers["content-type"] ?? "")) {
      throw new AppError(
        "unsupported_media_type",
        "The body must be JSON. Send it with Content-Type: application/json.",
      );
    }
    if (!inflate && (req.headers["content-encoding"] ?? "identity").toLowerCase() !== "identity") {
      throw compressed();
    }
    const encoding = jsonEncodingOf(req.headers["content-type"]);
    if (encoding === undefined || !ENCODINGS.has(encoding))
      throw new AppError("unsupported_media_type", otherJsonCharset(req.headers["content-type"]));
    await readWith(readRaw, req, res);
    // Invalid bytes are not replaced: the replacement characters would be stored.
    const text = decodeStrictly(bytesOf(req), encoding);
    if (text === undefined) {
      const name = encoding.toUpperCase();
      throw new AppError("invalid_json", `The body is not valid ${name}. Send JSON encoded as UTF-8.`);
    }
    // A body in chunks can be empty.
    if (text === "") {
      req.body = {};
      return [];
    }
    const { value, issues } = await parseJsonText(text);
    req.body = value;
    return issues;
  };
}

/**
 * Parses JSON, with turns of the event loop between the steps for a large one. Long numbers are text with their digits.
 * @returns the issues of values that the parsed value does not hold as they are written
 * @throws AppError invalid_json; invalid_input where it is nested too deep
 */
export async function parseJsonText(text: string): Promise<{ value: unknown; issues: Issue[] }> {
  await nextTurnIfLarge(text.length);
  assertRequestDepth(text);
  const value = parseJson(text);
  await nextTurnIfLarge(text.length);
  const { losses, exact } = scanJson(text, { keys: true });
  await nextTurnIfLarge(text.length);
  return { value: exact === text ? value : parseJson(exact), issues: lossIssues(losses) };
}

const readPlain = rawReader({ limit: MAX_BYTES, inflate: false });
const readInflated = rawReader({ limit: MAX_BYTES, inflate: true });

/**
 * Reads the bytes of a body, up to 1 MiB.
 * @param inflate whether it may be compressed: not where a signature is over the bytes that were sent
 * @throws AppError unsupported_media_type; what Express throws
 */
export async function readBytes(req: Request, res: Response, inflate = false): Promise<Buffer> {
  if (!hasBody(req)) return Buffer.alloc(0);
  if (!inflate && (req.headers["content-encoding"] ?? "identity").toLowerCase() !== "identity")
    throw compressed();
  await readWith(inflate ? readInflated : readPlain, req, res);
  return bytesOf(req);
}

const compressed = (): AppError =>
  new AppError(
    "unsupported_media_type",
    "The body must not be compressed. Send it without Content-Encoding.",
  );

/** For authenticated requests: up to 1 MiB. */
export const readBody = bodyReader({ limit: MAX_BYTES, inflate: true });
/** For requests without a key: up to 8 KiB, and no compression, which could expand few bytes to many. */
export const readSmallBody = bodyReader({ limit: 8 * 1024, inflate: false });

const unexpectedBody = (method: string): AppError =>
  new AppError("invalid_input", `${method} takes no body here. Send the values in the query string.`, {
    errors: [
      {
        path: "",
        code: "unexpected_body",
        message: "must be empty: this request takes no body",
        fix: "Use the query string.",
      },
    ],
  });

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new AppError("invalid_json", `The body is not valid JSON: ${(error as Error).message}`);
  }
}

const notUtf8 = (): AppError =>
  new AppError(
    "unsupported_media_type",
    "Send the body as UTF-8, plain or compressed with gzip, deflate or br.",
  );

const formatBytes = (bytes: number): string =>
  bytes < 1024 * 1024 ? `${bytes / 1024} KiB` : `${bytes / 1024 / 1024} MiB`;

/** Converts errors of Express and its body parser. */
export function fromExpressError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const { type, status, message, limit } = error as {
    type?: string;
    status?: number;
    message?: string;
    limit?: number;
  };
  switch (type) {
    case "entity.too.large":
      return new AppError("payload_too_large", `The body is larger than ${formatBytes(limit!)}. Send less.`);
    case "charset.unsupported":
    case "encoding.unsupported":
      return notUtf8();
    default:
      // Other client errors of Express, such as a path that does not decode or an incomplete body.
      return typeof status === "number" && status >= 400 && status < 500
        ? new AppError("invalid_request", `The request can't be read: ${message}`)
        : toAppError(error);
  }
}
