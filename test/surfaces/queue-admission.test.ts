import { expect, it } from "vitest";
import { MINUTE } from "../../src/core/clock.ts";
import { OPERATOR_ACTOR } from "../../src/commands/operator.ts";
import { invoke } from "../../src/surfaces/invoke.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import { apiClient } from "../support/http.ts";
import { fakeClock, testInstance } from "../support/instance.ts";
import { mockHttpServer, sendJson } from "../support/mock-http-server.ts";
import { expectProblem } from "../support/rest.ts";

/** An instance without an executor, and a workflow of each priority. */
async function open() {
  const clock = fakeClock();
  const peer = await mockHttpServer((_request, response) => sendJson(response, {}));
  const config = { limits: { queue_age: "30m" }, http: { allowed_hosts: [peer.host] } };
  const instance = await testInstance({ clock, config });
  const [ann, bob] = [(await instance.key()).value, (await instance.key()).value];
  const first = await instance.rest({ config });
  const define = async (name: string, definition: object): Promise<string> => {
    const { body } = await apiClient(first.url, ann)("POST", "/workflows", { name, definition });
    expect(body.issues).toEqual([]);
    return body.id as string;
  };
  const steps = [{ id: "set", type: "set", values: { n: 1 } }];
  return {
    instance,
    clock,
    define,
    config,
    peer,
    ann,
    bob,
    normal: await define("Normal", { steps }),
    urgent: await define("Urgent", { steps, priority: 5 }),
    batch: await define("Batch", { steps, priority: -5 }),
    /** Starts a run on a copy of its own, which knows nothing of the queue yet. */
    async start(key: string, workflow: string) {
      const { url } = await instance.rest({ config });
      return apiClient(url, key)("POST", `/workflows/${workflow}/runs`, {});
    },
  };
}

it("refuses new runs of an owner whose steps have waited for too long, and no others", async () => {
  const { instance, clock, config, ann, bob, normal, urgent, batch, start } = await open();
  expect((await start(ann, normal)).status).toBe(202);
  clock.advance(30 * MINUTE);
  expect((await start(ann, normal)).status).toBe(202);
  clock.advance(1);
  for (const workflow of [normal, batch]) {
    const refused = await start(ann, workflow);
    expectProblem(refused, "too_many_runs");
    expect(refused.headers.get("retry-after")).toBe("60");
    expect(refused.body.detail).toMatch(/for 30 minutes.*30m \(limits\.queue_age\)/);
  }
  // What goes before the waiting steps still starts, as do the runs of others and of the operator on the machine.
  expect((await start(ann, urgent)).status).toBe(202);
  expect((await start(bob, normal)).status).toBe(202);
  const call = { actor: OPERATOR_ACTOR, requestId: "req_1", signal: new AbortController().signal };
  await invoke(instance.services, runWorkflow, { workflow_id: normal, wait: 0 }, call);

  const { queue } = await instance.executor({ config });
  await queue.waitUntilIdle();
  expect((await start(ann, normal)).status).toBe(202);
});

it("does not count steps that wait for a rate", async () => {
  const { instance, clock, config, peer, ann, define, start } = await open();
  const limited = await define("Limited", {
    steps: [{ id: "call", type: "http", method: "GET", url: peer.url, rate: "1/h" }],
  });
  const { queue } = await instance.executor({ config });
  for (let run = 0; run < 2; run += 1) expect((await start(ann, limited)).status).toBe(202);
  await queue.waitUntilIdle();
  await queue.stop(0);
  expect((await instance.read.jobs.depth()).ready).toBe(1);
  clock.advance(31 * MINUTE);
  expect((await start(ann, limited)).status).toBe(202);
});
