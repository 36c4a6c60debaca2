import { describe, expect, it, onTestFinished } from "vitest";
import { createHttpClient } from "../../../src/connections/http/index.ts";
import type { CallContext, HttpResponse } from "../../../src/core/connections.ts";
import { EncodedJson } from "../../../src/core/encoded-json.ts";
import { fixedSecrets } from "../../../src/core/secret-source.ts";
import { StepError } from "../../../src/core/step-errors.ts";
import { commonTimeOfAsync } from "../../support/slowness.ts";
import { callOf } from "../../support/call-context.ts";
import { eventually } from "../../support/eventually.ts";
import { mockHttpServer, parseConfig } from "../../support/mock-http-server.ts";

const MIB = 1024 * 1024;
const SECRET = "sk-live-0123456789abcdef";

function openClient() {
  const config = parseConfig({
    http: { allowed_hosts: ["127.0.0.1"] },
    secrets: [{ name: "hook", key_var: "HOOK", hosts: ["127.0.0.1"] }],
  });
  const client = createHttpClient(config, fixedSecrets({ HOOK: SECRET }));
  onTestFinished(() => client.close());
  return (url: string, call: CallContext = callOf()): Promise<HttpResponse> =>
    client.send({ method: "GET", url, headers: {}, maxBytes: 4 * MIB }, call);
}

/** JSON of just under a size, whose parts are small: each costs work of its own. */
function rowsOf(bytes: number): string {
  const rows: string[] = [];
  for (let size = 0; size < bytes - 300; size += rows.at(-1)!.length + 1)
    rows.push(
      JSON.stringify({
        id: rows.length,
        name: `Ada ${rows.length}`,
        amount: rows.length / 7,
        tags: ["a", "b"],
      }),
    );
  return `[${rows.join(",")},{"echo":"Bearer ${SECRET}","id":12345678901234567890}]`;
}

describe("a large response", () => {
  it("is parsed and masked in a thread, which costs the event loop little", async () => {
    const body = rowsOf(4 * MIB);
    const peer = await mockHttpServer((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(body);
    });
    const send = openClient();
    // The first response starts the thread and loads its modules.
    let answer = await send(peer.url);
    const sendAgain = async (): Promise<void> => void (answer = await send(peer.url));
    // Parsing and masking it here takes more than half a second. This includes the server of the test.
    expect(await commonTimeOfAsync(sendAgain, 250)).toBeLessThan(250);
    expect(answer.body).toBeInstanceOf(EncodedJson);
    const rows = JSON.parse((answer.body as EncodedJson).text) as unknown[];
    expect(rows[0]).toEqual({ id: 0, name: "Ada 0", amount: 0, tags: ["a", "b"] });
    // Masked, and with all digits, as in a small response.
    expect(rows.at(-1)).toEqual({ echo: "Bearer ***", id: "12345678901234567890" });
  });

  it("fails as a small one does", async () => {
    const peer = await mockHttpServer((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(`${SECRET} ${"x".repeat(MIB)}`);
    });
    const error = await openClient()(peer.url).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StepError);
    expect(error).toMatchObject({
      code: "http_failed",
      message: "The response has a JSON content type, but is not valid JSON.",
      options: { transient: false, details: { starts_with: expect.stringMatching(/^\*\*\* xxx/) as string } },
    });
  });

  it("of another owner is read while one owner has many that never end", async () => {
    const peer = await mockHttpServer((request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      if (request.path === "/endless") response.write("[");
      else response.end(rowsOf(MIB));
    });
    const send = openClient();
    const attack = new AbortController();
    const endless = Array.from({ length: 40 }, () =>
      send(`${peer.url}/endless`, callOf(attack.signal, "mallory")).catch((error: unknown) => error),
    );
    await eventually(() => (peer.received.length === 40 ? true : undefined), "all requests");
    expect((await send(`${peer.url}/rows`)).status).toBe(200);
    attack.abort(new StepError("timeout", "It took too long."));
    for (const error of await Promise.all(endless)) expect(error).toMatchObject({ code: "timeout" });
  });
});
