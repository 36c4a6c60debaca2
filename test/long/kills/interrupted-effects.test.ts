/** Payments over a receiver that knows no idempotency keys, while the executor is killed in the middle of them. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { untilPassing } from "../../support/eventually.ts";
import { apiClient } from "../../support/http.ts";
import { temporaryDirectory } from "../../support/instance.ts";
import { mockHttpServer, sendJson } from "../../support/mock-http-server.ts";
import { PROGRAM } from "../../support/built.ts";
import { spawnCommand, startProgram } from "../../support/process.ts";

const LEASE_MS = 2_000;

/** A bank that books each payment it gets, and answers only from the call of `answer` on. */
async function bank() {
  const booked: string[] = [];
  let isAnswering = false;
  const peer = await mockHttpServer(({ method, path, body }, response) => {
    if (method === "GET") {
      const reference = new URL(path, "http://bank").searchParams.get("reference");
      return sendJson(
        response,
        booked.filter((one) => one === reference).map((one) => ({ id: `pay_${one}` })),
      );
    }
    const { reference } = JSON.parse(body) as { reference: string };
    booked.push(reference);
    if (isAnswering) sendJson(response, { id: `pay_${reference}` });
    return undefined;
  });
  return { booked, url: peer.url, host: peer.host, answer: () => void (isAnswering = true) };
}

async function open() {
  const ledger = await bank();
  const stateDir = temporaryDirectory();
  const config = join(stateDir, "config.yaml");
  writeFileSync(config, `http:\n  allowed_hosts: ["${ledger.host}"]\n`);
  const { out } = await spawnCommand(
    ["keys", "create", "--name", "test", "--scope", "write", "run", "approve"],
    {
      MILLRACE_STATE_DIR: stateDir,
    },
  );
  const server = await startProgram("serve", stateDir, { args: ["--workers", "0", "--config", config] });
  const call = apiClient(server.url, out.trim());

  async function startWorker(): Promise<ChildProcess> {
    const args = [PROGRAM, "worker", "--lease", String(LEASE_MS), "--config", config];
    const env = { ...process.env, MILLRACE_STATE_DIR: stateDir };
    const child = spawn(process.execPath, args, { env, stdio: "ignore" });
    onTestFinished(async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGKILL");
      await once(child, "exit");
    });
    return child;
  }

  /** Starts a run that pays, kills its executor once the bank has booked, and starts another one. */
  async function interrupted(more: object): Promise<string> {
    const pay = {
      id: "pay",
      type: "http",
      method: "POST",
      url: `${ledger.url}/payments`,
      body: { reference: "${{ run.id }}" },
      ...more,
    };
    const created = await call("POST", "/workflows", {
      name: "Payout",
      definition: { steps: [pay], output: "${{ steps.pay.body.id }}" },
    });
    expect(
      created.body.issues.filter(({ severity }: { severity?: string }) => severity !== "warning"),
    ).toEqual([]);
    const worker = await startWorker();
    const { body } = await call("POST", `/workflows/${created.body.id}/runs`, {});
    await untilPassing(() => expect(ledger.booked).toEqual([body.id]));
    worker.kill("SIGKILL");
    ledger.answer();
    await startWorker();
    return body.id as string;
  }

  const run = async (id: string) => (await call("GET", `/runs/${id}`)).body;
  const statusOf = async (id: string): Promise<string> => (await run(id)).status;
  return { ledger, call, interrupted, run, statusOf };
}

describe("a payment whose executor is killed after the bank has booked it", () => {
  it("is booked twice without on_interrupted, and the run says so until it is settled", async () => {
    const { ledger, call, interrupted, run, statusOf } = await open();
    const id = await interrupted({});
    await untilPassing(async () => expect(await statusOf(id)).toBe("succeeded"));
    expect(ledger.booked).toEqual([id, id]);
    const { open_interruptions: count, interruptions } = await run(id);
    expect([count, interruptions[0].reason, interruptions[0].waiting]).toEqual([1, "executor_ended", false]);
    const settled = await call("POST", `/interruptions/${interruptions[0].id}/settle`, {
      outcome: "happened",
      comment: "Booked twice. The second one was returned.",
    });
    expect([settled.status, settled.body.outcome]).toEqual([200, "happened"]);
    expect((await run(id)).open_interruptions).toBeUndefined();
  });

  it("is booked once where a person is asked, who says that it happened", async () => {
    const { ledger, call, interrupted, run, statusOf } = await open();
    const id = await interrupted({ on_interrupted: "ask" });
    await untilPassing(async () => expect(await statusOf(id)).toBe("waiting"));
    const [{ id: interruption, waiting }] = (await run(id)).interruptions;
    expect(waiting).toBe(true);
    const { status } = await call("POST", `/interruptions/${interruption}/settle`, {
      outcome: "happened",
      output: { status_code: 201, body: { id: "pay_by_hand" } },
    });
    expect(status).toBe(200);
    await untilPassing(async () => expect(await statusOf(id)).toBe("succeeded"));
    expect((await run(id)).output).toBe("pay_by_hand");
    expect(ledger.booked).toEqual([id]);
  });

  it("is booked once with a lookup, without a person", async () => {
    const { ledger, interrupted, run, statusOf } = await open();
    const id = await interrupted({
      lookup: {
        type: "http",
        url: `${ledger.url}/payments?reference=\${{ run.id }}`,
        happened: "size(result.body) > 0",
        output: { status_code: 201, headers: {}, body: "${{ result.body[0] }}" },
      },
    });
    await untilPassing(async () => expect(await statusOf(id)).toBe("succeeded"));
    expect(ledger.booked).toEqual([id]);
    const { output, open_interruptions: count } = await run(id);
    expect([output, count]).toEqual([`pay_${id}`, undefined]);
  });
});
