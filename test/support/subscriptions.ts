/** An instance with subscriptions, its executor, and receivers on loopback that check what they get. */
import type { ServerResponse } from "node:http";
import { Webhook } from "standardwebhooks";
import type { z } from "zod";
import type { NewSubscription } from "../../schemas/subscription.ts";
import { listInterruptions } from "../../tools/interruptions/list-interruptions.ts";
import { createSubscription } from "../../tools/subscriptions/create-subscription.ts";
import { getDelivery } from "../../tools/subscriptions/get-delivery.ts";
import { listDeliveries } from "../../tools/subscriptions/list-deliveries.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { publishWorkflow } from "../../tools/workflows/publish-workflow.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import { fakeClock, type FakeClock, testInstance } from "./instance.ts";
import { mockHttpServer, type ReceivedRequest } from "./mock-http-server.ts";
import { callAs, signedInUser } from "./users.ts";

/** What a receiver of Standard Webhooks has accepted: with a signature that the library `standardwebhooks` verified. */
export interface VerifiedEvent {
  id: string;
  type: string;
  timestamp: string;
  data: Record<string, unknown>;
}

/** Starts a receiver. @param answer ends the response; left out, every request gets 204 */
export async function eventReceiver(
  answer: (response: ServerResponse, request: ReceivedRequest) => void = (response) =>
    response.writeHead(204).end(),
) {
  const server = await mockHttpServer((request, response) => answer(response, request));
  return {
    ...server,
    /** What was received so far, verified. @throws if a signature is wrong */
    verified: (secret: string): VerifiedEvent[] =>
      server.received.map(({ headers, body }) =>
        Object.assign(verify(secret, headers, body) as VerifiedEvent, {
          id: headers["webhook-id"] as string,
        }),
      ),
  };
}

/** Verifies with the library of the specification. The time is not compared with that of this machine, because clocks are turned here. */
export function verify(secret: string, headers: ReceivedRequest["headers"], body: string): unknown {
  const now = Date.now;
  Date.now = () => Number(headers["webhook-timestamp"]) * 1_000;
  try {
    return new Webhook(secret).verify(body, headers as Record<string, string>);
  } finally {
    Date.now = now;
  }
}

export const SUCCEEDS = {
  steps: [{ id: "a", type: "set", values: { answer: "${{ inputs.n }}" } }],
  inputs: { type: "object", properties: { n: { type: "integer", default: 1 } } },
};
export const FAILS = {
  steps: [{ id: "check", type: "assert", that: "1 > 2", message: "a secret of the run" }],
};

/** A server that answers nothing. */
export const silentBank = () =>
  mockHttpServer(() => {
    // The request gets no answer.
  });
/** A step whose payment gets no answer in time. */
export const payAt = (url: string) => ({
  steps: [
    {
      id: "pay",
      type: "http",
      method: "POST",
      url: `${url}/pay`,
      body: { amount: "4711 EUR" },
      timeout: "1s",
    },
  ],
});

type CreateInput = Omit<z.input<(typeof createSubscription)["input"]>, "name"> & { name?: string };

/** Opens an instance with an executor, which delivers when `settle` is called. */
export async function subscriptionHarness({
  hosts = [],
  config = {},
  env = {},
  clock = fakeClock(),
}: {
  /** Receivers, as `127.0.0.1:port`: private addresses must be allowed. */
  hosts?: readonly string[];
  config?: Record<string, unknown>;
  env?: Record<string, string>;
  clock?: FakeClock;
} = {}) {
  const options = { config: { http: { allowed_hosts: [...hosts] }, ...config }, env };
  const instance = await testInstance({ clock, ...options });
  const admin = await signedInUser(instance, { email: "root@example.com", role: "admin" });
  const call = callAs(instance, admin.principal);
  const executor = await instance.executor(options);
  const settle = async (): Promise<void> => {
    await executor.queue.waitUntilIdle();
    do await executor.deliverer.idle();
    while ((await executor.deliverer.deliverDue()) > 0);
  };
  return {
    instance,
    clock,
    admin,
    call,
    executor,
    /** Executes what is due, and delivers it. */
    settle,
    async publish(
      name: string,
      definition: Record<string, unknown> = SUCCEEDS,
      more: { tags?: string[]; project?: string } = {},
    ) {
      const { id } = await call(createWorkflow, { name, definition, ...more });
      await call(publishWorkflow, { workflow_id: id });
      return id;
    },
    async run(workflowId: string, inputs: Record<string, unknown> = {}) {
      const { id } = (await call(runWorkflow, { workflow_id: workflowId, inputs, wait: 0 })) as {
        id: string;
      };
      executor.queue.wake();
      await executor.queue.waitUntilIdle();
      return id;
    },
    subscribe: async (input: CreateInput): Promise<z.infer<typeof NewSubscription>> =>
      call(createSubscription, { name: "test", ...input }),
    deliveries: async (input: z.input<(typeof listDeliveries)["input"]> = {}) =>
      (await call(listDeliveries, input)).items,
    interruptions: async () => (await call(listInterruptions, {})).items,
    delivery: (id: string) => call(getDelivery, { delivery_id: id }),
  };
}
