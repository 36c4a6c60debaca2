/** Sends successful responses: one object, one page, or all pages as a streamed array; 304 for an unchanged one. */
import type { Request, Response } from "express";
import type { AnyTool, ListResponse, ListTotal } from "../../core/tool.ts";
import { shortHash } from "../../core/short-hash.ts";
import type { PreparedCall } from "../invoke.ts";
import { isFresh } from "./entity-tags.ts";

/** `Cache-Control` of ordinary responses. */
const PRIVATE = "private, no-cache";
/** `Cache-Control` of responses with a secret, which no cache may keep, not even the browser's. */
const SECRET = "no-store";

/** How the items of a list are written. */
interface ListFormat {
  contentType: string;
  opening: string;
  /** Between two pages. */
  separator: string;
  closing: string;
  /** The items of a page, of which there is at least one. */
  write(items: readonly unknown[]): string;
}

const ARRAY: ListFormat = {
  contentType: "application/json",
  opening: "[",
  separator: ",",
  closing: "]",
  write: (items) => JSON.stringify(items).slice(1, -1),
};

const LINES: ListFormat = {
  contentType: "application/x-ndjson",
  opening: "",
  separator: "",
  closing: "",
  write: (items) => items.map((item) => `${JSON.stringify(item)}\n`).join(""),
};

const writeList = (format: ListFormat, items: readonly unknown[]): string =>
  `${format.opening}${items.length === 0 ? "" : format.write(items)}${format.closing}`;

/** Sends one object with its ETag; 201 and Location when it was created, 202 when it is still running. */
export async function sendObject(
  req: Request,
  res: Response,
  tool: AnyTool,
  prepared: PreparedCall,
  cache: ObjectCache,
): Promise<void> {
  // Read before the object: if it changes in between, what is kept is too old for the next request, never too new.
  const revision = await prepared.revision();
  const key = revision === undefined ? "" : `${prepared.visibility} ${JSON.stringify(prepared.input)}`;
  const kept = revision === undefined ? undefined : cache.get(key, revision);
  const output = kept === undefined ? await prepared.run() : undefined;
  res.setHeader("Cache-Control", tool.noStore ? SECRET : PRIVATE);
  const etag = kept === undefined ? etagOf(tool, output) : kept.etag;
  if (etag !== undefined) res.setHeader("ETag", etag);
  if (tool.effect === "read" && etag !== undefined && isFresh(req.headers["if-none-match"], etag)) {
    res.status(304).end();
    return;
  }
  if (tool.effect === "create") {
    res.status(201);
    if (!tool.noStore)
      res.setHeader(
        "Location",
        `${req.baseUrl}${req.path.replace(/\/$/, "")}/${(output as { id: string }).id}`,
      );
  }
  const location = tool.pollLocation?.(output);
  if (location !== undefined) res.status(202).setHeader("Location", req.baseUrl + location);
  if (kept !== undefined) {
    sendJson(res, kept.body);
    return;
  }
  const body = JSON.stringify(output);
  if (revision !== undefined) cache.set(key, { revision, etag, body });
  sendJson(res, body);
}

function etagOf(tool: AnyTool, output: unknown): string | undefined {
  const tag = tool.etag?.(output);
  return tag === undefined ? undefined : `"${tag}"`;
}

function sendJson(res: Response, body: string | Buffer, contentType = ARRAY.contentType): void {
  res.setHeader("Content-Type", contentType);
  res.setHeader("Content-Length", Buffer.byteLength(body));
  res.end(body);
}

/** What an ETag says about the limits of its caller: the list changes with them. Nothing for a caller who sees everything. */
const visibilityTag = (visibility: string): string => (visibility === "*" ? "" : `-${shortHash(visibility)}`);

/** Keeps the bytes of answers until their revision changes. Limited in bytes. */
interface AnswerCache<Answer extends KeptAnswer> {
  get(key: string, revision: string): Answer | undefined;
  /** Keeps an answer, unless it is very large. */
  set(key: string, answer: Answer): void;
}

interface KeptAnswer {
  revision: string;
  /** As text, Node sends a short body in one piece with its headers. */
  body: Buffer | string;
}

/** The cache of an operation that returns one object. */
export type ObjectCache = AnswerCache<KeptAnswer & { etag: string | undefined }>;

/** The cache of a list, whose whole and first pages are kept. */
export type ListCache = AnswerCache<KeptAnswer & ListBody>;

/** A list or a page, as it is sent. */
interface ListBody extends ListTotal {
  body: Buffer;
  /** Of the next page; null for the last one, and for a whole list. */
  nextCursor: string | null;
}

/** Maximum size of the cache of an operation, in bytes. */
const CACHE_BYTES = 16 * 1024 * 1024;
/** Maximum size of a kept answer, in bytes. */
const MAX_CACHED_BYTES = 4 * 1024 * 1024;
/** Approximate memory of an entry besides its key and body, in bytes. */
const ENTRY_OVERHEAD = 500;
/** How long a client may read nothing before it counts as gone, in milliseconds. */
const STALL_MS = 60_000;

/** The memory of a body, in bytes. */
const sizeOf = (body: Buffer | string): number => (typeof body === "string" ? 2 : 1) * body.length;

export function answerCache<Answer extends KeptAnswer>(): AnswerCache<Answer> {
  const answers = new Map<string, Answer>();
  let bytes = 0;
  const cost = (key: string, { body }: Answer): number => sizeOf(body) + 2 * key.length + ENTRY_OVERHEAD;
  const drop = (key: string): void => {
    const answer = answers.get(key);
    if (answer === undefined) return;
    bytes -= cost(key, answer);
    answers.delete(key);
  };
  return {
    get(key, revision) {
      const answer = answers.get(key);
      if (answer === undefined || answer.revision === revision) return answer;
      drop(key);
      return undefined;
    },
    set(key, answer) {
      drop(key);
      if (sizeOf(answer.body) > MAX_CACHED_BYTES) return;
      answers.set(key, answer);
      bytes += cost(key, answer);
      // A Map iterates in insertion order, so the oldest answers are dropped first.
      for (const oldest of answers.keys()) {
        if (bytes <= CACHE_BYTES) break;
        drop(oldest);
      }
    },
  };
}

/**
 * Sends a list: one page if the request has paging parameters, else all of it, with bounded memory.
 * @param version of the program, which is part of the ETag because a new release may write the same rows differently
 */
export async function sendList(
  req: Request,
  res: Response,
  tool: AnyTool,
  prepared: PreparedCall,
  cache: ListCache,
  version: string,
): Promise<void> {
  // Read before the rows: if one changes in between, the ETag is too old, never too new.
  const revision = await prepared.revision();
  res.setHeader("Cache-Control", PRIVATE);
  if (revision !== undefined) {
    const etag = `W/"${revision}-${version}${visibilityTag(prepared.visibility)}"`;
    res.setHeader("ETag", etag);
    if (isFresh(req.headers["if-none-match"], etag)) {
      res.status(304).end();
      return;
    }
  }
  const { linesFile } = tool.page!;
  const format = linesFile === undefined ? ARRAY : LINES;
  if (linesFile !== undefined) res.setHeader("Content-Disposition", `attachment; filename="${linesFile}"`);
  const { search, cursor } = prepared.input;
  const key = `${tool.name} ${req.path} ${prepared.visibility} ${JSON.stringify(prepared.input)}`;
  // Searches and further pages rarely repeat, and would displace lists that do.
  const isCacheable = revision !== undefined && search === undefined && cursor === undefined;
  const cached = !isCacheable ? undefined : cache.get(key, revision);
  if (cached !== undefined) {
    sendBody(req, res, cached, format);
    return;
  }
  const sent = prepared.isPaged
    ? await sendPage(req, res, prepared, format)
    : await streamPages(req, res, prepared.pages(), format);
  if (isCacheable && sent !== undefined) cache.set(key, { revision, ...sent });
}

function setTotal(res: Response, { total, total_capped: isCapped }: ListTotal): void {
  res.setHeader("X-Total-Count", total);
  if (isCapped === true) res.setHeader("X-Total-Count-Capped", "true");
}

function sendBody(req: Request, res: Response, list: ListBody, { contentType }: ListFormat): void {
  setTotal(res, list);
  if (list.nextCursor !== null) res.setHeader("Link", `<${nextLink(req, list.nextCursor)}>; rel="next"`);
  sendJson(res, list.body, contentType);
}

/** Sends one page. @returns what it sent */
async function sendPage(
  req: Request,
  res: Response,
  prepared: PreparedCall,
  format: ListFormat,
): Promise<ListBody> {
  const { limit, cursor } = prepared.input;
  const hasParameters = limit !== undefined || cursor !== undefined;
  const page = (
    hasParameters ? await prepared.run() : (await prepared.pages().next()).value
  ) as ListResponse<unknown>;
  const { total, total_capped } = page;
  const body = Buffer.from(writeList(format, page.items));
  const sent: ListBody = { body, total, total_capped, nextCursor: page.next_cursor };
  sendBody(req, res, sent, format);
  return sent;
}

/** Sends all pages as one list. @returns the sent list if it is small enough to be cached */
async function streamPages(
  req: Request,
  res: Response,
  pages: AsyncGenerator<ListResponse<unknown>>,
  format: ListFormat,
): Promise<ListBody | undefined> {
  const first = (await pages.next()).value as ListResponse<unknown>;
  const { total, total_capped } = first;
  const sent = (body: Buffer): ListBody => ({ body, total, total_capped, nextCursor: null });
  if (first.next_cursor === null) {
    const whole = sent(Buffer.from(writeList(format, first.items)));
    sendBody(req, res, whole, format);
    return whole;
  }
  setTotal(res, first);
  res.setHeader("Content-Type", format.contentType);
  if (req.method === "HEAD") {
    res.end();
    return undefined;
  }
  // The socket counts from the last bytes that were sent, so a slow client is not cut off.
  res.setTimeout(STALL_MS, () => res.destroy());
  const chunks: string[] = [];
  let size = 0;
  const closed = new Promise<void>((resolve) => res.once("close", resolve));
  const send = async (chunk: string): Promise<void> => {
    size += chunk.length;
    if (size <= MAX_CACHED_BYTES) chunks.push(chunk);
    else chunks.length = 0;
    // Waits for a slow client, but not for one that has gone.
    if (!res.write(chunk)) await Promise.race([drained(res), closed]);
  };
  await send(`${format.opening}${format.write(first.items)}`);
  for await (const page of pages) {
    if (res.destroyed) return undefined;
    if (page.items.length > 0) await send(`${format.separator}${format.write(page.items)}`);
  }
  res.end(format.closing);
  return size <= MAX_CACHED_BYTES ? sent(Buffer.from(`${chunks.join("")}${format.closing}`)) : undefined;
}

const drained = (res: Response) => new Promise<void>((resolve) => res.once("drain", resolve));

/** The URL of the next page (RFC 8288). */
function nextLink(req: Request, cursor: string): string {
  // Everything after the first question mark, because a value may contain others.
  const query = new URLSearchParams(/\?(.*)/.exec(req.originalUrl)?.[1]);
  query.set("cursor", cursor);
  return `${req.baseUrl}${req.path}?${query.toString()}`;
}
