/** Answers that may be 304: one object, one page, or every page as one streamed array. */
import type { Request, Response } from "express";
import fresh from "fresh";
import type { AnyTool, ListResponse } from "../../core/tool.ts";
import type { PreparedCall } from "../invoke.ts";

const PRIVATE = "private, no-cache";
/** What is shown once: it may stay in no cache, not even the browser's own. */
const SECRET = "no-store";

/**
 * Whether the client's copy is current, so that 304 is enough (RFC 9110, section 13.1.2). Cache-Control is not considered:
 * `fetch` sends `no-cache` with every If-None-Match that a script sets.
 */
const isFresh = ({ headers }: Request, etag: string): boolean =>
  fresh({ "if-none-match": headers["if-none-match"] }, { etag });

/** Sends one object with its ETag, `201` and its place where it was created. */
export function sendObject(req: Request, res: Response, tool: AnyTool, output: unknown): void {
  res.setHeader("Cache-Control", tool.noStore ? SECRET : PRIVATE);
  const tag = tool.etag?.(output);
  const etag = tag === undefined ? undefined : `"${tag}"`;
  if (etag !== undefined) res.setHeader("ETag", etag);
  if (tool.effect === "read" && etag !== undefined && isFresh(req, etag)) {
    res.status(304).end();
    return;
  }
  if (tool.effect === "create") {
    res.status(201);
    if (!tool.noStore)
      res.setHeader("Location", `${req.path.replace(/\/$/, "")}/${(output as { id: string }).id}`);
  }
  const place = tool.pollLocation?.(output);
  if (place !== undefined) res.status(202).setHeader("Location", place);
  sendJson(res, JSON.stringify(output));
}

function sendJson(res: Response, body: string | Buffer): void {
  res.setHeader("Content-Type", "application/json");
  res.setHeader("Content-Length", Buffer.byteLength(body));
  res.end(body);
}

/** Whole lists as they were last sent, to be sent again while their revision stands. Bounded in bytes. */
export interface ListCache {
  get(key: string, revision: string): CachedList | undefined;
  set(key: string, list: CachedList): void;
}

interface CachedList {
  revision: string;
  body: Buffer;
  total: number;
}

const CACHE_BYTES = 16 * 1024 * 1024;
const LARGEST_CACHED = 4 * 1024 * 1024;
/** About what an entry takes beside its key and its body. */
const ENTRY_OVERHEAD = 500;
/** A reader that takes nothing for so long has gone without a word. */
const STALL_MS = 60_000;

export function listCache(): ListCache {
  let lists = new Map<string, CachedList>();
  let revision: string | undefined;
  let bytes = 0;
  const cost = (key: string, list: CachedList): number =>
    list.body.byteLength + 2 * key.length + ENTRY_OVERHEAD;
  const drop = (key: string): void => {
    const list = lists.get(key);
    if (list === undefined) return;
    bytes -= cost(key, list);
    lists.delete(key);
  };
  /** What was sent before a change is of no use after it. */
  const move = (to: string): void => {
    if (revision === to) return;
    [lists, revision, bytes] = [new Map(), to, 0];
  };
  return {
    get(key, at) {
      move(at);
      return lists.get(key);
    },
    set(key, list) {
      move(list.revision);
      drop(key);
      lists.set(key, list);
      bytes += cost(key, list);
      // A Map keeps the order of insertion: the oldest goes first.
      for (const oldest of lists.keys()) {
        if (bytes <= CACHE_BYTES) break;
        drop(oldest);
      }
    },
  };
}

/**
 * Sends a list: one page where paging was asked for, else everything, in bounded memory.
 * @param version of the program: a new release may write the same rows in another way
 */
export async function sendList(
  req: Request,
  res: Response,
  tool: AnyTool,
  prepared: PreparedCall,
  cache: ListCache,
  version: string,
): Promise<void> {
  // Before the rows: should one change in between, the tag is too old, never too new.
  const revision = await prepared.revision();
  res.setHeader("Cache-Control", PRIVATE);
  if (revision !== undefined) {
    const etag = `W/"${revision}-${version}"`;
    res.setHeader("ETag", etag);
    if (isFresh(req, etag)) {
      res.status(304).end();
      return;
    }
  }
  const { limit, cursor } = prepared.input;
  if (limit !== undefined || cursor !== undefined) {
    const page = (await prepared.run()) as ListResponse<unknown>;
    res.setHeader("X-Total-Count", page.total);
    if (page.next_cursor !== null) res.setHeader("Link", `<${nextLink(req, page.next_cursor)}>; rel="next"`);
    sendJson(res, JSON.stringify(page.items));
    return;
  }
  const key = `${tool.name} ${req.path} ${JSON.stringify(prepared.input)}`;
  // Searches hardly repeat, and would drive out the lists that do.
  const kept = revision !== undefined && prepared.input["search"] === undefined;
  const known = !kept ? undefined : cache.get(key, revision);
  if (known !== undefined) {
    res.setHeader("X-Total-Count", known.total);
    sendJson(res, known.body);
    return;
  }
  const whole = await streamPages(req, res, prepared.pages());
  if (whole !== undefined && kept) cache.set(key, { revision, ...whole });
}

/** @returns what was sent, where it was small enough to be kept */
async function streamPages(
  req: Request,
  res: Response,
  pages: AsyncGenerator<ListResponse<unknown>>,
): Promise<{ body: Buffer; total: number } | undefined> {
  const first = (await pages.next()).value as ListResponse<unknown>;
  res.setHeader("X-Total-Count", first.total);
  const opening = `[${rows(first)}`;
  if (first.next_cursor === null) {
    const body = Buffer.from(`${opening}]`);
    sendJson(res, body);
    return { body, total: first.total };
  }
  res.setHeader("Content-Type", "application/json");
  if (req.method === "HEAD") {
    res.end();
    return undefined;
  }
  // Counted by the socket from the last bytes that went: a slow reader is no stalled one.
  res.setTimeout(STALL_MS, () => res.destroy());
  const kept: string[] = [];
  let size = 0;
  const gone = new Promise<void>((resolve) => res.once("close", resolve));
  const send = async (chunk: string): Promise<void> => {
    size += chunk.length;
    if (size <= LARGEST_CACHED) kept.push(chunk);
    else kept.length = 0;
    // A slow reader is waited for, one that has gone is not.
    if (!res.write(chunk)) await Promise.race([drained(res), gone]);
  };
  await send(opening);
  for await (const page of pages) {
    if (res.destroyed) return undefined;
    if (page.items.length > 0) await send(`,${rows(page)}`);
  }
  res.end("]");
  return size <= LARGEST_CACHED ? { body: Buffer.from(`${kept.join("")}]`), total: first.total } : undefined;
}

const drained = (res: Response) => new Promise<void>((resolve) => res.once("drain", resolve));

const rows = (page: ListResponse<unknown>): string => JSON.stringify(page.items).slice(1, -1);

/** The same request, at the next page. RFC 8288. */
function nextLink(req: Request, cursor: string): string {
  // All behind the first question mark: a value may hold others.
  const query = new URLSearchParams(/\?(.*)/.exec(req.originalUrl)?.[1]);
  query.set("cursor", cursor);
  return `${req.path}?${query.toString()}`;
}
