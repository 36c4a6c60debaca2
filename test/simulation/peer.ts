/** The receiver of all calls: it notes each with its idempotency key, and answers late, with an error, or not at all. */
import type { CallContext, HttpRequest, HttpResponse, McpServers } from "../../src/core/connections.ts";
import { StepError } from "../../src/core/step-errors.ts";
import { httpStepError } from "../../src/connections/http/errors.ts";
import type { RecordedCall } from "../support/run-invariants.ts";
import type { FailurePlan } from "./failures.ts";
import type { Runtime, SimulatedProcess } from "./runtime.ts";
import { LEDGER, LIMITED_SERVER, PEER } from "./workflows.ts";

interface PeerCall extends RecordedCall {
  /** Virtual milliseconds. */
  at: number;
  /** Whether it was performed: it was not refused. */
  done: boolean;
}

interface LedgerEntry {
  path: string;
  key: string;
}

export interface Peer {
  calls: readonly PeerCall[];
  /** The ids of accepted deliveries, by the type and the run of their event. */
  delivered: ReadonlyMap<string, ReadonlySet<string>>;
  /** Whether a call with this key was performed. */
  wasDone(key: string): boolean;
  /** The calls whose path does not say which run they belong to. */
  ledger: readonly LedgerEntry[];
  /** The largest number of calls of the limited server at a time, of processes that were executing them. */
  readonly mostAtATime: number;
  /** Replaces the HTTP client of the product. */
  send(request: HttpRequest, call: CallContext): Promise<HttpResponse>;
  /** The call of a tool of the limited server. */
  callTool: McpServers["call"];
}

/** Maximum time of an answer, in milliseconds. */
const ANSWER_MS = 150;

const answer = (body: unknown, status = 200): HttpResponse => ({
  status,
  headers: { "content-type": "application/json" },
  body,
});

const keyOf = (headers: HttpRequest["headers"]): string =>
  Object.entries(headers).find(([name]) => name.toLowerCase() === "idempotency-key")![1] as string;

/** @param transfer see `Disturbances.transfer` */
export function simulatedPeer(runtime: Runtime, failures: FailurePlan, transfer: () => Promise<void>): Peer {
  const random = runtime.randomFor("peer");
  const calls: PeerCall[] = [];
  const ledger: LedgerEntry[] = [];
  const done = new Set<string>();
  const delivered = new Map<string, Set<string>>();
  const atWork = new Set<{ caller: SimulatedProcess | undefined }>();
  let mostAtATime = 0;

  /** Performs a call. @returns whether it was refused */
  function perform(stepRef: string, key: string): boolean {
    const refused = failures.happens("refuse", stepRef);
    calls.push({ stepRef, key, at: runtime.now(), done: !refused });
    if (!refused) done.add(key);
    return refused;
  }

  function receive(url: string, { headers, body }: HttpRequest): HttpResponse {
    const { pathname: path, searchParams } = new URL(url);
    if (path === "/lookup") return answer({ found: done.has(searchParams.get("key")!) });
    if (path === "/events") {
      const { type, data } = JSON.parse(body as string) as { type: string; data: { run?: { id: string } } };
      if (failures.happens("refuse", path)) return answer(null, 503);
      const event = `${type} ${data.run?.id}`;
      delivered.set(event, (delivered.get(event) ?? new Set()).add(headers["webhook-id"] as string));
      return answer(null);
    }
    if (path.startsWith(LEDGER)) {
      if (failures.happens("refuse", path)) return answer({ error: "busy" }, 503);
      const isFirst = !ledger.some((entry) => entry.path === path);
      ledger.push({ path, key: keyOf(headers) });
      return isFirst && searchParams.get("fail") === "first"
        ? answer({ error: "not yet" }, 400)
        : answer({ one: 1 });
    }
    const refused = perform(path.slice(1), keyOf(headers)) || searchParams.get("busy") === "1";
    if (refused) return answer({ error: "busy" }, 503);
    return searchParams.get("fail") === "1" ? answer({ error: "never" }, 400) : answer({ one: 1 });
  }

  /** The way to the peer and back. @param work what the peer does when the call arrives */
  async function reach<T>(place: string, signal: AbortSignal, work: () => T): Promise<T> {
    await transfer();
    signal.throwIfAborted();
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      if (failures.happens("down", place))
        throw httpStepError(
          Object.assign(new Error("down"), { code: "ECONNREFUSED", syscall: "connect" }),
          PEER,
        );
      const result = work();
      if (failures.happens("hang", place)) await aborted;
      await Promise.race([runtime.sleep(random() * ANSWER_MS), aborted]);
      if (failures.happens("cut", place))
        throw httpStepError(Object.assign(new Error("cut"), { code: "ECONNRESET" }), PEER);
      await transfer();
      return result;
    } finally {
      signal.removeEventListener("abort", onAbort);
      // Nobody waits for it any more.
      aborted.catch(() => {});
    }
  }

  return {
    calls,
    ledger,
    delivered,
    wasDone: (key) => done.has(key),
    get mostAtATime() {
      return mostAtATime;
    },
    send(request, { signal }) {
      const url = request.url as string;
      return reach(url, signal, () => receive(url, request));
    },
    async callTool(_server, _tool, args, { idempotencyKey }, { signal }) {
      const at = { caller: runtime.current() };
      atWork.add(at);
      mostAtATime = Math.max(mostAtATime, [...atWork].filter(({ caller }) => caller?.alive).length);
      try {
        const refused = await reach(LIMITED_SERVER, signal, () =>
          perform(String(args["ref"]), idempotencyKey),
        );
        if (refused) throw new StepError("tool_failed", "busy", { transient: true });
        return { one: 1 };
      } finally {
        atWork.delete(at);
      }
    },
  };
}
