/** Sends successful responses: one object, one page, or all pages as a streamed array; 304 for an unchanged one. */
import type { Request, Response } from "express";
import fresh from "fresh";
import type { AnyTool, ListResponse } from "../../core/tool.ts";
import type { PreparedCall } from "../invoke.ts";

/** `Cache-Control` of ordinary responses. */
const PRIVATE = "private, no-cache";
/** `Cache-Control` of responses with a secret, which no cache may keep, not even the browser's. */
const SECRET = "no-store";

/**
 * Whether the client's copy is current, so that 304 is enough (RFC 9110, section 13.1.2). Cache-Control is not considered:
 * `fetch` sends `no-cache` with every If-None-Match that a script sets.
 */
const isFresh = ({ headers }: Request, etag: string): boolean =>
  fresh({ "if-none-match": headers["if-none-match"] }, { etag });

/** Sends one object with its ETag; 201 and Location when it was created, 202 when it is still running. */
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
  const location = tool.pollLocation?.(output);
  if (location !== undefined) res.status(202).setHeader("Location", location);
  sendJson(res, JSON.stringify(output));
}

function sendJson(res: Response, body: string | Buffer): void {
  res.setHeader("Content-Type", "application/json");
  res.setHeader("Content-Length", Buffer.byteLength(body));
  res.end(body);
}

/** Caches the bytes of whole lists until their revision changes. Limited in bytes. */
export interface ListCache {
  get(key: string, revision: string): CachedList | undefined;
  set(key: string, list: CachedList): void;
}

interface CachedList {
  revision: string;
  body: Buffer;
  total: number;
}

/** Maximum size of a list cache, in bytes. */
const CACHE_BYTES = 16 * 1024 * 1024;
/** Maximum size of a cached list, in bytes. */
const MAX_CACHED_BYTES = 4 * 1024 * 1024;
/** Approximate memory of an entry besides its key and body, in bytes. */
const ENTRY_OVERHEAD = 500;
/** How long a client may read nothing before it counts as gone, in milliseconds. */
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
  /** Clears the cache when the revision has changed. */
  const useRevision = (current: string): void => {
    if (revision === current) return;
    [lists, revision, bytes] = [new Map(), current, 0];
  };
  return {
    get(key, at) {
      useRevision(at);
      return lists.get(key);
    },
    set(key, list) {
      useRevision(list.revision);
      drop(key);
      lists.set(key, list);
      bytes += cost(key, list);
      // A Map iterates in insertion order, so the oldest lists are dropped first.
      for (const oldest of lists.keys()) {
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
    const etag = `W/"${revision}-${version}"`;
    res.setHeader("ETag", etag);
    if (isFresh(req, etag)) {
      res.status(304).end();
      return;
    }
  }
  const { limit, cursor } = prepared.input;
  if (prepared.isPaged) {
    const hasParameters = limit !== undefined || cursor !== undefined;
    const page = (
      hasParameters ? await prepared.run() : (await prepared.pages().next()).value
    ) as ListResponse<unknown>;
    res.setHeader("X-Total-Count", page.total);
    if (page.next_cursor !== null) res.setHeader("Link", `<${nextLink(req, page.next_cursor)}>; rel="next"`);
    sendJson(res, JSON.stringify(page.items));
    return;
  }
  const key = `${tool.name} ${req.path} ${JSON.stringify(prepared.input)}`;
  // Searches rarely repeat, and would displace lists that do.
  const isCacheable = revision !== undefined && prepared.input["search"] === undefined;
  const cached = !isCacheable ? undefined : cache.get(key, revision);
  if (cached !== undefined) {
    res.setHeader("X-Total-Count", cached.total);
    sendJson(res, cached.body);
    return;
  }
  const sent = await streamPages(req, res, prepared.pages());
  if (sent !== undefined && isCacheable) cache.set(key, { revision, ...sent });
}

/** Sends all pages as one array. @returns the sent list if it is small enough to be cached */
async function streamPages(
  req: Request,
  res: Response,
  pages: AsyncGenerator<ListResponse<unknown>>,
): Promise<{ body: Buffer; total: number } | undefined> {
  const first = (await pages.next()).value as ListResponse<unknown>;
  res.setHeader("X-Total-Count", first.total);
  const opening = `[${itemsJson(first)}`;
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
  await send(opening);
  for await (const page of pages) {
    if (res.destroyed) return undefined;
    if (page.items.length > 0) await send(`,${itemsJson(page)}`);
  }
  res.end("]");
  return size <= MAX_CACHED_BYTES
    ? { body: Buffer.from(`${chunks.join("")}]`), total: first.total }
    : undefined;
}

const drained = (res: Response) => new Promise<void>((resolve) => res.once("drain", resolve));

/** The items of a page as JSON, without the brackets around them. */
const itemsJson = (page: ListResponse<unknown>): string => JSON.stringify(page.items).slice(1, -1);

/** The URL of the next page (RFC 8288). */
function nextLink(req: Request, cursor: string): string {
  // Everything after the first question mark, because a value may contain others.
  const query = new URLSearchParams(/\?(.*)/.exec(req.originalUrl)?.[1]);
  query.set("cursor", cursor);
  return `${req.path}?${query.toString()}`;
}
