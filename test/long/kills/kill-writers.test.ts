import { describe, expect, it } from "vitest";
import { apiClient, type ApiClient } from "../../support/http.ts";
import { temporaryDirectory } from "../../support/instance.ts";
import { spawnCommand, startProgram } from "../../support/process.ts";
import { seededRandom, testSeed } from "../../support/random.ts";
import { type StoredWorkflow, verifyState } from "../../support/verify-state.ts";

const ROUNDS = 4;
const WRITERS = 6;
/** Maximum number of acknowledged writes before a kill, beside one for each writer. */
const MAX_WRITES = 200;

interface Created {
  name: string;
  body: { name: string; description: string };
  key: string;
}

function acknowledgedWith(expected: number, status: number): void {
  if (status !== expected) throw new Error(`answered with ${status} instead of ${expected}`);
}

/** A client that creates workflows and changes each twice, until the connection breaks. */
class Writer {
  readonly #prefix: string;
  /** The acknowledged descriptions of each workflow's versions. */
  readonly acknowledged = new Map<string, string[]>();
  /** The last request, which has no response. */
  unanswered: Created | { id: string; description: string } | undefined;

  readonly #onAcknowledged: () => void;

  constructor(prefix: string, onAcknowledged: () => void) {
    this.#prefix = prefix;
    this.#onAcknowledged = onAcknowledged;
  }

  async write(call: ApiClient): Promise<void> {
    for (let n = 0; ; n += 1) {
      const name = `${this.#prefix}-${n}`;
      const creation = { name, body: { name, description: "first" }, key: name };
      this.unanswered = creation;
      const created = await call("POST", "/workflows", creation.body, { "Idempotency-Key": creation.key });
      acknowledgedWith(201, created.status);
      const { id } = created.body;
      const history = ["first"];
      this.acknowledged.set(id, history);
      this.#onAcknowledged();
      for (const description of ["second", "third"]) {
        this.unanswered = { id, description };
        const changed = await call("PATCH", `/workflows/${id}`, { description });
        acknowledgedWith(200, changed.status);
        history.push(description);
        this.#onAcknowledged();
      }
    }
  }
}

function expectAllStored(writers: readonly Writer[], stored: readonly StoredWorkflow[]): number {
  const byId = new Map(stored.map(({ id, history }) => [id, history]));
  let checked = 0;
  for (const { acknowledged, unanswered } of writers) {
    for (const [id, history] of acknowledged) {
      const found = byId.get(id) ?? [];
      expect(found.slice(0, history.length)).toEqual(history);
      // More than the acknowledged versions exist only when a response was lost.
      const lost = unanswered !== undefined && "id" in unanswered && unanswered.id === id ? 1 : 0;
      expect(found.length).toBeLessThanOrEqual(history.length + lost);
      checked += history.length;
    }
  }
  return checked;
}

describe("kill -9 while clients write", () => {
  it("loses no acknowledged write, leaves nothing half-written, and replays lost responses", async () => {
    const next = seededRandom(testSeed("kill -9"));
    const stateDir = temporaryDirectory();
    const key = (
      await spawnCommand(["keys", "create", "--name", "t"], { MILLRACE_STATE_DIR: stateDir })
    ).out.trim();
    const allWriters: Writer[] = [];
    let serve = await startProgram("serve", stateDir);

    for (let round = 0; round < ROUNDS; round += 1) {
      // While requests are in progress, however long they take.
      let left = WRITERS + 1 + Math.floor(next() * MAX_WRITES);
      const { child } = serve;
      const onAcknowledged = (): void => {
        if ((left -= 1) === 0) child.kill("SIGKILL");
      };
      const writers = Array.from(
        { length: WRITERS },
        (_, i) => new Writer(`r${round}-w${i}`, onAcknowledged),
      );
      allWriters.push(...writers);
      const call = apiClient(serve.url, key);
      const working = writers.map((writer) =>
        writer.write(call).catch((error: unknown) => {
          // A broken connection is expected, but not a wrong response.
          if (!(error instanceof TypeError)) throw error;
        }),
      );
      await Promise.all(working);

      serve = await startProgram("serve", stateDir);
      expectAllStored(allWriters, verifyState(stateDir));
      const again = apiClient(serve.url, key);
      for (const { unanswered } of writers) {
        if (unanswered === undefined || "id" in unanswered) continue;
        const answers = [];
        for (const _ of [1, 2])
          answers.push(
            await again("POST", "/workflows", unanswered.body, { "Idempotency-Key": unanswered.key }),
          );
        expect(answers.map(({ status }) => status)).toEqual([201, 201]);
        expect(answers[1]!.body).toEqual(answers[0]!.body);
        expect(verifyState(stateDir).filter(({ name }) => name === unanswered.name)).toHaveLength(1);
      }
    }
    const checked = expectAllStored(allWriters, verifyState(stateDir));
    expect(checked).toBeGreaterThan(ROUNDS * WRITERS);
    expect(await serve.stop()).toMatchObject({ code: 0 });
  }, 60_000);
});
