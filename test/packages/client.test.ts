import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { createClient, MillraceError } from "../../packages/client/src/index.ts";
import { startTestExecutor } from "../support/executor.ts";
import { openRest } from "../support/rest.ts";

const SETS = { steps: [{ id: "one", type: "set", values: { a: 1 } }] };

async function open() {
  const { url, key, instance } = await openRest();
  return { url, key, instance, client: createClient({ url: `${url}/`, key, userAgent: "test" }) };
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** A server that answers as `listener` says. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Answers requests with these responses, one after the other, and records the requests. */
function scripted(...answers: (Response | Error)[]) {
  const requests: { url: string; init: RequestInit }[] = [];
  const fetch = async (url: unknown, init: RequestInit = {}): Promise<Response> => {
    requests.push({ url: String(url), init });
    const answer = answers.shift()!;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return {
    requests,
    client: createClient({ url: "http://millrace.test", key: "k", fetch: fetch }),
  };
}

const busy = (): Response =>
  Response.json(
    {
      type: "urn:millrace:problem:busy",
      title: "Busy",
      status: 503,
      detail: "Busy.",
      code: "busy",
      request_id: "req_1",
    },
    { status: 503 },
  );

const page = (body: string, type: string, link?: string) =>
  new Response(body, { headers: { "Content-Type": type, ...(link !== undefined && { Link: link }) } });

const stream = (text: string) => new Response(text, { headers: { "Content-Type": "text/event-stream" } });

describe("the client", () => {
  it("calls operations, and returns their revision and the length of lists", async () => {
    const { client } = await open();
    const { data: made, etag } = await client.post("/workflows", { body: { name: "One", definition: SETS } });
    expect([made.id, etag]).toEqual(["one", '"1"']);
    const changed = await client.patch("/workflows/{workflow_id}", {
      path: { workflow_id: made.id },
      header: { "If-Match": etag! },
      body: { description: "New" },
    });
    expect(changed.data.version).toBe(2);
    const { data, total, next } = await client.get("/workflows", {
      query: { limit: 1, include: ["last_run"] },
    });
    expect(data.map(({ id, last_run: run }) => [id, run])).toEqual([["one", null]]);
    expect([total, next]).toEqual([1, null]);
  });

  it("throws problem details with their issues", async () => {
    const { client } = await open();
    const error = await client.post("/workflows", { body: { name: "" } }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(MillraceError);
    expect(error).toMatchObject({ status: 400, code: "invalid_input", issues: [{ path: "name" }] });
    await expect(client.get("/runs/{run_id}", { path: { run_id: "run_none" } })).rejects.toMatchObject({
      code: "run_not_found",
      message: expect.stringContaining("run_none"),
    });
  });

  it("executes requests with one idempotency key once", async () => {
    const { client } = await open();
    const create = () => client.post("/workflows", { body: { name: "One" }, idempotencyKey: "key-1" });
    expect((await create()).data.id).toBe((await create()).data.id);
    expect((await client.get("/workflows")).data).toHaveLength(1);
  });

  it("waits for the end of a run, and yields its events", async () => {
    const { client, instance } = await open();
    await startTestExecutor(instance);
    await client.post("/workflows", { body: { name: "One", definition: SETS } });
    const { data: run } = await client.post("/workflows/{workflow_id}/runs", {
      path: { workflow_id: "one" },
      body: {},
    });
    const seen: string[] = [];
    for await (const { event } of client.runEvents(run.id)) seen.push(event);
    expect(seen.at(-1)).toBe("end");
    expect(seen).toContain("step");
    expect((await client.waitForRun(run.id)).status).toBe("succeeded");
    await expect(client.waitForRun("run_none")).rejects.toMatchObject({ code: "run_not_found" });
  });

  it("stops waiting when its signal is aborted", async () => {
    const { client } = await open();
    await client.post("/workflows", { body: { name: "One", definition: SETS } });
    const { data: run } = await client.post("/workflows/{workflow_id}/runs", {
      path: { workflow_id: "one" },
      body: {},
    });
    const stop = new AbortController();
    const waiting = client.waitForRun(run.id, { signal: stop.signal });
    stop.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
  });

  it("yields all items of a list, page by page, also of lines of JSON", async () => {
    const { client, requests } = scripted(
      page('[{"id":"a"},{"id":"b"}]', "application/json", '</workflows?cursor=c%2F1>; rel="next"'),
      page('[{"id":"c"}]', "application/json"),
      page('{"id":1}\n{"id":2}\n', "application/x-ndjson"),
    );
    const ids: string[] = [];
    for await (const { id } of client.list("/workflows", { query: { tag: "x" } })) ids.push(id);
    expect(ids).toEqual(["a", "b", "c"]);
    expect(requests.map(({ url }) => new URL(url).search)).toEqual([
      "?tag=x&limit=200",
      "?tag=x&limit=200&cursor=c%2F1",
    ]);
    expect(await all(client.list("/audit-log/export"))).toMatchObject([{ id: 1 }, { id: 2 }]);
  });

  it("repeats what may be repeated when the server is busy or away, and nothing else", async () => {
    const away = scripted(new TypeError("fetch failed"), busy(), Response.json([]));
    expect((await away.client.get("/workflows")).data).toEqual([]);
    const create = scripted(busy(), Response.json({ id: "one" }));
    await expect(create.client.post("/workflows", { body: { name: "One" } })).rejects.toMatchObject({
      code: "busy",
    });
    const safe = scripted(busy(), Response.json({ id: "one" }));
    await safe.client.post("/workflows", { body: { name: "One" }, idempotencyKey: "k" });
    expect([away, create, safe].map(({ requests }) => requests.length)).toEqual([3, 1, 2]);
  });

  it("continues an interrupted stream of events", async () => {
    const { client, requests } = scripted(
      stream('retry: 2000\n\n: comment\n\nid: 7\nevent: step\ndata: {"id":"one"}\n\nid: 9\nevent: step\nda'),
      stream('id: 9\nevent: end\ndata: {"status":"succeeded"}\n\n'),
    );
    const events = await all(client.runEvents("run_1"));
    expect(events).toEqual([
      { event: "step", data: { id: "one" } },
      { event: "end", data: { status: "succeeded" } },
    ]);
    expect(requests[1]!.init.headers).toMatchObject({ "Last-Event-ID": "7" });
  });

  it("sends the key to no other host", async () => {
    const received: unknown[] = [];
    const other = await serve((req, res) => {
      received.push(req.headers);
      res.end("[]");
    });
    const url = await serve((_, res) => res.writeHead(307, { Location: `${other}/workflows` }).end());
    await expect(createClient({ url, key: "k" }).get("/workflows")).rejects.toMatchObject({
      code: "redirected",
      message: expect.stringContaining(other),
    });
    expect(received).toEqual([]);
  });

  it("says when it is not Millrace that answers, and refuses other URLs", async () => {
    const url = await serve((_, res) => res.writeHead(404).end("<html>"));
    await expect(createClient({ url, key: "k" }).get("/workflows")).rejects.toMatchObject({
      code: "unreadable_response",
      status: 404,
    });
    const html = scripted(new Response("<html>"));
    await expect(html.client.get("/workflows")).rejects.toMatchObject({ code: "unreadable_response" });
    expect(() => createClient({ url: "ftp://millrace.test" })).toThrow("http");
  });
});
