/**
 * Notifies clients of changes of runs, workflows and approvals. A notice names the resource and nothing of its content, and is sent only
 * to a caller who could read the resource now.
 */
import { type Access, mayUseTool } from "../../core/access.ts";
import { type ChangeCheck, type ChangeFeed, checkOnChange } from "../../core/change-feed.ts";
import { AppError } from "../../core/errors.ts";
import {
  MAX_SUBSCRIPTIONS_PER_OWNER,
  type McpSubscriptionStore,
  type ReadChangeMarks,
  type WatchedKind,
} from "../../core/mcp-subscription-port.ts";
import type { Principal, Readers } from "../../core/ports.ts";
import { scopedReaders } from "../../core/scoped-readers.ts";
import { usageSubjectOf } from "../../core/usage-limits.ts";
import type { Callers } from "../still-allowed.ts";
import { parseWatched, type WatchedResource } from "./resource-kinds.ts";

/** Maximum delay of a notice, and minimum time between two of a resource, in milliseconds. */
const NOTICE_MS = 500;

interface Watched {
  uri: string;
  /** The change mark after which the client is notified. */
  mark: string;
}

/** A stream on which a client is notified. */
interface WatchingStream {
  principal: Principal;
  /** The session whose subscriptions count, or what a stream without a session is notified of. */
  of: { sessionId: string } | { resources: readonly Watched[] };
  /** @returns false if it can't be sent now: it is due again with the next change of anything */
  notify(uri: string): boolean;
}

export interface ResourceWatch {
  /** Which of these resources the caller can read, with their marks. */
  readable(principal: Principal, resources: readonly WatchedResource[]): Promise<Watched[]>;
  /**
   * Notifies a client until the returned function is called.
   * @throws AppError too_many_subscriptions
   */
  add(stream: WatchingStream): () => void;
  stop(): void;
}

interface ResourceWatchOptions {
  read: Readers;
  readChangeMarks: ReadChangeMarks;
  subscriptions: McpSubscriptionStore;
  changes: Pick<ChangeFeed, "subscribe">;
  callers: Callers;
  onError(this: void, error: unknown): void;
}

/** It subscribes to the change feed only while there are streams. */
export function resourceWatch(options: ResourceWatchOptions): ResourceWatch {
  const { read, readChangeMarks, subscriptions, changes, callers, onError } = options;
  /** The streams, with the marks of which each was notified last. */
  const streams = new Map<WatchingStream, Map<string, string>>();
  let check: ChangeCheck | undefined;

  async function marksOf(uris: Iterable<string>): Promise<Map<string, string>> {
    const byKind = Map.groupBy([...uris].map(parseWatched), ({ kind }) => kind.watched);
    const marks = new Map<string, string>();
    for (const [watched, resources] of byKind) {
      const found = await readChangeMarks(
        watched,
        resources.map(({ id }) => id),
      );
      for (const { uri, id } of resources) if (found.has(id)) marks.set(uri, found.get(id)!);
    }
    return marks;
  }

  async function watchedBy(all: readonly WatchingStream[]): Promise<[WatchingStream, readonly Watched[]][]> {
    const ids = all.flatMap(({ of }) => ("sessionId" in of ? [of.sessionId] : []));
    const stored = Map.groupBy(await subscriptions.of(ids), ({ sessionId }) => sessionId);
    return all.map((stream) => [
      stream,
      "sessionId" in stream.of ? (stored.get(stream.of.sessionId) ?? []) : stream.of.resources,
    ]);
  }

  async function notifyChanged(): Promise<void> {
    const watched = await watchedBy([...streams.keys()]);
    const marks = await marksOf(new Set(watched.flatMap(([, resources]) => resources.map(({ uri }) => uri))));
    const accesses = new Map<string, Access | undefined>();
    for (const [stream, resources] of watched) {
      const notified = streams.get(stream);
      if (notified === undefined) continue;
      const uris = new Set(resources.map(({ uri }) => uri));
      for (const uri of notified.keys()) if (!uris.has(uri)) notified.delete(uri);
      const changed = resources.filter(
        ({ uri, mark }) => marks.has(uri) && marks.get(uri) !== (notified.get(uri) ?? mark),
      );
      if (changed.length === 0) continue;
      const { principal } = stream;
      if (!accesses.has(principal.keyId)) accesses.set(principal.keyId, await accessNow(principal));
      const access = accesses.get(principal.keyId);
      for (const { uri } of changed) {
        const isReadable = access !== undefined && (await canRead({ ...principal, access }, uri));
        // The client may have gone meanwhile.
        if (!streams.has(stream)) break;
        if (!isReadable || stream.notify(uri)) notified.set(uri, marks.get(uri)!);
      }
    }
  }

  /** What a key may see and do now; undefined if it is no longer valid. */
  async function accessNow({ keyId }: Principal): Promise<Access | undefined> {
    const invalid = await callers.findInvalid([keyId]);
    return invalid.length > 0 ? undefined : callers.accessOf(keyId);
  }

  async function canRead(principal: Principal, uri: string): Promise<boolean> {
    const { kind, id } = parseWatched(uri);
    const { operation, watched } = kind;
    if (!mayUseTool(principal.access, operation)) return false;
    try {
      const limited = scopedReaders(read, { principal, operation, scope: "read", mask: undefined });
      return await EXISTS[watched](limited, id);
    } catch (error) {
      if (error instanceof AppError && error.status < 500) return false;
      throw error;
    }
  }

  /** How many resources the streams without a session are notified of, for an owner. */
  const countOf = (owner: string): number =>
    [...streams.keys()]
      .filter(({ principal }) => usageSubjectOf(principal) === owner)
      .reduce((sum, { of }) => sum + ("resources" in of ? of.resources.length : 0), 0);

  return {
    async readable(principal, resources) {
      const uris = new Set(resources.map(({ uri }) => uri));
      const marks = await marksOf(uris);
      const found: Watched[] = [];
      for (const [uri, mark] of marks) if (await canRead(principal, uri)) found.push({ uri, mark });
      return found;
    },
    add(stream) {
      const added = "resources" in stream.of ? stream.of.resources.length : 0;
      if (added > 0 && countOf(usageSubjectOf(stream.principal)) + added > MAX_SUBSCRIPTIONS_PER_OWNER)
        throw new AppError(
          "too_many_subscriptions",
          `Your streams are notified of up to ${MAX_SUBSCRIPTIONS_PER_OWNER} resources in all. End one first.`,
        );
      streams.set(stream, new Map());
      check ??= checkOnChange(changes, notifyChanged, onError, NOTICE_MS);
      // For changes between the marks and now.
      check.run();
      return () => {
        streams.delete(stream);
        if (streams.size > 0) return;
        check?.stop();
        check = undefined;
      };
    },
    stop() {
      streams.clear();
      check?.stop();
      check = undefined;
    },
  };
}

/** Whether the caller of limited readers can find a resource. */
const EXISTS: Record<WatchedKind, (read: Readers, id: string) => Promise<boolean>> = {
  run: async ({ runs }, id) => (await runs.getStatusSummaries([id])).length > 0,
  workflow: async ({ workflows }, id) => (await workflows.projectOf(id)) !== undefined,
  approval: async ({ approvals }, id) => (await approvals.find(id)) !== undefined,
};
