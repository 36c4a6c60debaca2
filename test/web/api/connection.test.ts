import { onlineManager } from "@tanstack/react-query";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isUnreachable, send } from "../../../src/web/api/client.ts";
import { connection } from "../../../src/web/api/connection.ts";
import { createQueryClient } from "../../../src/web/api/queries.ts";

const problem = (status: number) =>
  Response.json(
    { type: "about:blank", title: "", status, detail: "No.", code: "busy", request_id: "" },
    { status },
  );
const proxyError = () => new Response("<h1>Bad gateway</h1>", { status: 502 });

/** What the server answers; null while it can't be reached. */
let answer: () => Response | null;
const requests: string[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("document", {
    querySelector: () => ({ content: "/ui/" }),
    visibilityState: "visible",
  });
  vi.stubGlobal("fetch", async (url: string, { method = "GET" } = {}) => {
    requests.push(`${method} ${url}`);
    const response = answer();
    if (response === null) throw new TypeError("Failed to fetch");
    return response;
  });
  requests.length = 0;
});
afterEach(() => {
  connection.reportContact();
  onlineManager.setOnline(true);
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const status = () => connection.getState().status;
const read = () => send("get", "/session", {});
const write = () => send("delete", "/session", {});

describe("send", () => {
  it("reports an outage when neither the request nor a probe is answered", async () => {
    answer = () => null;
    const error = await read().catch((thrown: unknown) => thrown);
    await vi.advanceTimersByTimeAsync(0);
    expect(isUnreachable(error)).toBe(true);
    expect([status(), ...requests]).toEqual(["unreachable", "GET /session", "GET /health"]);
  });

  it.each([
    ["the error page of a proxy", proxyError, true],
    ["an error of the server itself", () => problem(503), false],
  ])("takes %s as what it is", async (_what, response, isOutage) => {
    answer = response;
    const error = await read().catch((thrown: unknown) => thrown);
    await vi.advanceTimersByTimeAsync(0);
    expect([isUnreachable(error), status()]).toEqual([isOutage, isOutage ? "unreachable" : "reachable"]);
  });

  it("reports that the server is back with the first answer", async () => {
    answer = () => null;
    await read().catch(() => undefined);
    await vi.advanceTimersByTimeAsync(0);
    answer = () => Response.json({});
    await read();
    expect(status()).toBe("reachable");
  });

  it("refuses at once what would change something while the server can't be reached, and asks the server", async () => {
    answer = () => null;
    await read().catch(() => undefined);
    await vi.advanceTimersByTimeAsync(0);
    requests.length = 0;
    answer = () => Response.json({});
    expect(await write().catch(isUnreachable)).toBe(true);
    expect(requests).toEqual(["GET /health"]);
    await vi.advanceTimersByTimeAsync(0);
    expect(status()).toBe("reachable");
    await write();
    expect(requests.at(-1)).toBe("DELETE /session");
  });
});

it("createQueryClient makes no mutation wait for the server", async () => {
  const client = createQueryClient(() => undefined);
  onlineManager.setOnline(false);
  answer = () => null;
  const mutation = client
    .getMutationCache()
    .build(client, client.defaultMutationOptions({ mutationFn: write }));
  expect(await mutation.execute(undefined).catch(isUnreachable)).toBe(true);
  onlineManager.setOnline(true);
  await client.resumePausedMutations();
  expect(requests.filter((request) => request.startsWith("DELETE"))).toHaveLength(1);
});

it("createQueryClient lets a query wait for the server instead of failing", async () => {
  const client = createQueryClient(() => undefined);
  const stop = connection.subscribe(() => onlineManager.setOnline(status() !== "unreachable"));
  client.mount();
  answer = () => null;
  const query = { queryKey: ["session"], queryFn: read };
  const loaded = client.fetchQuery({ ...client.getDefaultOptions().queries, ...query });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(client.getQueryState(query.queryKey)).toMatchObject({ status: "pending", fetchStatus: "paused" });
  answer = () => Response.json({ back: true });
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await loaded).toMatchObject({ data: { back: true } });
  client.unmount();
  stop();
});
