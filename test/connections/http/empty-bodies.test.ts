import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { responseFrom } from "../../support/http-client.ts";
import { stepErrorOf } from "../../support/mock-http-server.ts";

const CODINGS = ["gzip", "br", "deflate", "zstd", "gzip, br", "identity"];
const FIVE_GB = String(5 * 1024 ** 3);

describe("a response without a body", () => {
  it.each([200, 201, 204, 205, 304].flatMap((status) => CODINGS.map((coding) => [status, coding] as const)))(
    "of status %i with the content coding %s has the body null",
    async (status, coding) => {
      const answer = await responseFrom((response) => {
        response.writeHead(status, { "content-encoding": coding, "content-type": "application/json" });
        response.end();
      });
      expect(answer).toMatchObject({ status, headers: { "content-encoding": coding }, body: null });
    },
  );

  it.each(["gzip", "br", "deflate", "zstd", "compress"])(
    "to HEAD with the content coding %s has the body null, and its headers",
    async (coding) => {
      const answer = await responseFrom(
        (response) => {
          response.writeHead(200, {
            "content-encoding": coding,
            "content-type": "application/json",
            "content-length": FIVE_GB,
            "x-total": "7",
          });
          response.end();
        },
        { method: "HEAD" },
      );
      expect(answer.body).toBeNull();
      expect(answer.headers).toMatchObject({ "content-length": FIVE_GB, "x-total": "7" });
    },
  );

  it("to HEAD after redirects has the body null: 303 keeps HEAD", async () => {
    const methods: string[] = [];
    const answer = await responseFrom(
      (response) => {
        methods.push(response.req.method!);
        const isFirst = methods.length === 1;
        response.writeHead(isFirst ? 303 : 200, isFirst ? { location: "/b" } : { "content-length": FIVE_GB });
        response.end();
      },
      { method: "HEAD" },
    );
    expect([answer.status, answer.body, methods]).toEqual([200, null, ["HEAD", "HEAD"]]);
  });

  it("may follow informational responses", async () => {
    const answer = await responseFrom((response) => {
      response.writeProcessing();
      response.writeEarlyHints({ link: "</a.css>; rel=preload" });
      response.writeHead(204);
      response.end();
    });
    expect([answer.status, answer.body]).toEqual([204, null]);
  });

  it.each(["gzip", "br", "deflate", "zstd"])(
    "fails if it declares a length and the connection ends before it: %s",
    async (coding) => {
      const call = responseFrom((response) => {
        response.writeHead(200, { "content-encoding": coding, "content-length": "100" });
        response.flushHeaders();
        response.socket!.end();
      });
      expect(await stepErrorOf(call)).toMatchObject({ code: "http_failed", transient: true });
    },
  );

  it("is null where compressed data is an empty text", async () => {
    const answer = await responseFrom((response) => {
      response.writeHead(200, { "content-encoding": "gzip", "content-type": "application/json" });
      response.end(gzipSync(""));
    });
    expect(answer.body).toBeNull();
  });
});
