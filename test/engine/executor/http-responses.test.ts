import { describe, expect, it } from "vitest";
import { runToEnd, testEngine } from "../../support/engine.ts";
import { mockHttpServer, sendJson } from "../../support/mock-http-server.ts";

const open = () => testEngine({ config: { http: { allowed_hosts: ["127.0.0.1"] } } });

describe("a run", () => {
  it("waits as long as a 403 asks for, where the step retries it", async () => {
    const engine = await open();
    let count = 0;
    const peer = await mockHttpServer((_request, response) => {
      count += 1;
      sendJson(response, {}, count === 1 ? 403 : 200, { "retry-after": "90" });
    });
    const step = { id: "a", type: "http", url: peer.url, retry: { attempts: 2, on: ["http_status"] } };
    const workflow = await engine.define({ steps: [step] });
    const queue = await engine.executor();
    const id = await engine.start(workflow);
    queue.wake();
    await queue.waitUntilIdle();
    engine.clock.advance(89_000);
    queue.wake();
    await queue.waitUntilIdle();
    expect(count).toBe(1);
    engine.clock.advance(1_001);
    queue.wake();
    await queue.waitUntilIdle();
    await queue.stop(0);
    expect([count, (await engine.outcome(id)).status]).toEqual([2, "succeeded"]);
  });

  it("passes on the rows of a large CSV file, cookies one by one, and the text of bytes", async () => {
    const engine = await open();
    const lines = Array.from({ length: 20_000 }, (_, index) => `${index};Müller ${index}`);
    const peer = await mockHttpServer(({ path }, response) => {
      const isFile = path === "/file";
      response.writeHead(200, {
        "content-type": isFile ? "application/octet-stream" : "application/x-unknown",
        "set-cookie": ["a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT", "b=2"],
      });
      response.end(Buffer.from(isFile ? ["id;name", ...lines].join("\n") : "Müller", "latin1"));
    });
    const { output } = await runToEnd(engine, {
      steps: [
        {
          id: "file",
          type: "http",
          url: `${peer.url}/file`,
          parse: "csv",
          csv: { separator: ";" },
          charset: "windows-1252",
        },
        { id: "bytes", type: "http", url: peer.url },
      ],
      output: {
        count: "${{ steps.file.body.size() }}",
        last: "${{ steps.file.body[19999] }}",
        cookies: "${{ steps.file.headers['set-cookie'].map(c, c.split(';')[0]) }}",
        text: "${{ decode(steps.bytes.body.base64, 'windows-1252') }}",
      },
    });
    expect(output).toEqual({
      count: 20_000,
      last: { id: "19999", name: "Müller 19999" },
      cookies: ["a=1", "b=2"],
      text: "Müller",
    });
  });

  it("fails before a request whose url a value would change", async () => {
    const engine = await open();
    const peer = await mockHttpServer((_request, response) => sendJson(response, {}));
    const url = `${peer.url}/a/\${{ inputs.x }}/b`;
    const definition = {
      inputs: { type: "object", properties: { x: { type: "string" } } },
      steps: [{ id: "a", type: "http", url }],
    };
    const outcomes = [];
    for (const x of ["..", "", "%2e%2e", "a/../b"])
      outcomes.push(await runToEnd(engine, definition, { inputs: { x } }));
    const failed = { code: "input_invalid", message: expect.stringMatching(/The value of inputs\.x /) };
    expect(outcomes.map(({ error }) => error)).toMatchObject([failed, failed, null, null]);
    expect(peer.received.map(({ path }) => path)).toEqual(["/a/%252e%252e/b", "/a/a%2F..%2Fb/b"]);
  });

  it("undoes a step with a request whose response has no body", async () => {
    const engine = await open();
    const peer = await mockHttpServer(({ method }, response) => {
      response.writeHead(method === "DELETE" ? 204 : 201, { "content-encoding": "gzip" });
      response.end();
    });
    const { id } = await runToEnd(engine, {
      steps: [
        {
          id: "a",
          type: "http",
          method: "POST",
          url: peer.url,
          undo: { type: "http", method: "DELETE", url: peer.url },
        },
        { id: "b", type: "assert", that: "1 > 2", needs: ["a"] },
      ],
    });
    expect(peer.received.map(({ method }) => method)).toEqual(["POST", "DELETE"]);
    expect(await engine.read.runs.step({ runId: id, stepId: "undo:a", item: null })).toMatchObject({
      state: "succeeded",
    });
  });
});
