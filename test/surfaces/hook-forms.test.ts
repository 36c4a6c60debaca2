import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { untilPassing } from "../support/eventually.ts";
import { apiClient, toApiResponse } from "../support/http.ts";
import { testInstance } from "../support/instance.ts";
import { expectProblem } from "../support/rest.ts";

const FORM = "application/x-www-form-urlencoded";
const CONFIG = { secrets: [{ name: "hook", key_var: "TEST_HOOK", hosts: [] }] };
const ENV = { TEST_HOOK: "a secret" };

const TAGS = { type: "object", properties: { tags: { type: "array", items: { type: "string" } } } };

/** A published workflow whose trigger gives it the tags of a delivery. */
async function published({ payload, tags = "${{ event.body.tag }}" }: { payload?: object; tags?: string }) {
  const instance = await testInstance();
  const { url } = await instance.rest({ config: CONFIG, env: ENV });
  await instance.executor({ config: CONFIG, env: ENV });
  const { value: key } = await instance.key({ scopes: ["read", "write", "run", "publish"] });
  const call = apiClient(url, key);
  const trigger = {
    id: "sent",
    type: "webhook",
    signature: { scheme: "github", secret: "hook" },
    ...(payload !== undefined && { payload }),
    inputs: { tags },
  };
  const definition = {
    inputs: TAGS,
    triggers: [trigger],
    steps: [{ id: "kept", type: "set", values: { tags: "${{ inputs.tags }}" } }],
    output: "${{ steps.kept.tags }}",
  };
  const created = await call("POST", "/workflows", { name: "Tags", definition });
  expect(created.body.errors).toBeUndefined();
  expect(await call("POST", "/workflows/tags/publish", { version: 1 })).toMatchObject({ status: 200 });
  const { body: triggers } = await call("GET", "/workflows/tags/triggers");
  const { pathname } = new URL(triggers.items[0].url as string);
  const send = async (body: string | Buffer, type = FORM, query = "") => {
    const signature = createHmac("sha256", "a secret").update(body).digest("hex");
    const answer = await fetch(`${url}${pathname}${query}`, {
      method: "POST",
      headers: { "Content-Type": type, "X-Hub-Signature-256": `sha256=${signature}` },
      body,
    });
    return toApiResponse(answer);
  };
  /** Sends a delivery, and waits for its run. */
  const received = async (...delivery: Parameters<typeof send>) => {
    const sent = await send(...delivery);
    expect(sent).toMatchObject({ status: 202 });
    return untilPassing(async () => {
      const path = `/workflows/tags/deliveries/${sent.body.delivery_id}`;
      const { body: found } = await call("GET", path);
      expect(found.status).not.toBe("received");
      const { body: run } = await call("GET", `/runs/${sent.body.run_id}`);
      expect(run.finished_at).not.toBeNull();
      return { delivery: found, run };
    });
  };
  return { call, send, received };
}

describe("a form that a webhook receives", () => {
  it("has a list of its values in order for each field that occurs more than once", async () => {
    const { received } = await published({});
    const { delivery, run } = await received("tag=b&one=1&tag=a&tag=b&list[]=x");
    expect(delivery.body).toEqual({ tag: ["b", "a", "b"], one: "1", "list[]": "x" });
    expect(run.output).toEqual(["b", "a", "b"]);
  });

  it("has a list for a field that occurs once where the inputs of the workflow declare one", async () => {
    const { received } = await published({});
    const { delivery, run } = await received("tag=b");
    expect([delivery.body, run.output]).toEqual([{ tag: "b" }, ["b"]]);
  });

  it.each(["${{ has(event.body.tag) ? event.body.tag : [] }}", "${{ event.body['tag'] ?? [] }}"])(
    "has a list for a field that occurs once, and the default for none, where an input is %s",
    async (tags) => {
      const { received } = await published({ tags });
      expect((await received("tag=b")).run.output).toEqual(["b"]);
      expect((await received("tag=b&tag=a")).run.output).toEqual(["b", "a"]);
      expect((await received("other=b")).run.output).toEqual([]);
    },
  );

  it("makes no list of a text that an expression makes of a field", async () => {
    const { send, call } = await published({ tags: "${{ dyn(event.body.tag + '!') }}" });
    const { body } = await send("tag=b");
    await untilPassing(async () => {
      const { body: delivery } = await call("GET", `/workflows/tags/deliveries/${body.delivery_id}`);
      expect(delivery).toMatchObject({ status: "failed", reason: expect.stringContaining("must be a list") });
    });
  });

  it("has a list for a field that occurs once where payload declares one", async () => {
    const payload = { type: "object", properties: { tag: { type: "array", items: { type: "string" } } } };
    const { received } = await published({ payload, tags: "${{ event.body.tag.map(t, t + '!') }}" });
    expect((await received("tag=b")).run.output).toEqual(["b!"]);
  });

  it("has the repeated parameters of the query as lists too", async () => {
    const { received } = await published({ tags: "${{ event.query.tag }}" });
    const repeated = await received("", FORM, "?tag=b&tag=a&one=1&token=secret");
    expect([repeated.delivery.query, repeated.run.output]).toEqual([
      { tag: ["b", "a"], one: "1" },
      ["b", "a"],
    ]);
    expect((await received("x=1", FORM, "?tag=b")).run.output).toEqual(["b"]);
  });

  it("is read in its charset", async () => {
    const { send, received } = await published({});
    const latin = `${FORM}; charset=ISO-8859-1`;
    expect((await received("tag=M%FCnchen", latin)).run.output).toEqual(["München"]);
    expect((await received(Buffer.from("tag=M\u00fcnchen", "latin1"), latin)).run.output).toEqual([
      "München",
    ]);
    const { errors } = expectProblem(await send("tag=M%FCnchen"), "invalid_input");
    expect(errors).toMatchObject([
      { path: "tag", message: "is not valid text in the charset utf-8 of the form" },
    ]);
    const unknown = expectProblem(await send("a=1", `${FORM}; charset=latin-nine`), "invalid_input");
    expect(unknown.detail).toContain('"latin-nine"');
    expectProblem(await send("tag=b", FORM, "?q=M%FCnchen"), "invalid_input");
  });

  it("may have parts, but no files", async () => {
    const { send, received } = await published({});
    const form = new FormData();
    form.append("tag", "b");
    form.append("tag", "ä\r\n");
    const request = new Request("http://localhost", { method: "POST", body: form });
    const body = Buffer.from(await request.clone().arrayBuffer());
    const type = request.headers.get("content-type")!;
    expect((await received(body, type)).run.output).toEqual(["b", "ä\r\n"]);
    form.append("photo", new File(["x"], "photo.jpg", { type: "image/jpeg" }));
    const withFile = new Request("http://localhost", { method: "POST", body: form });
    const refused = await send(
      Buffer.from(await withFile.clone().arrayBuffer()),
      withFile.headers.get("content-type")!,
    );
    const { errors } = expectProblem(refused, "invalid_input");
    expect(errors).toMatchObject([
      { path: "photo", message: 'is the file "photo.jpg", and files can\'t be received' },
    ]);
  });
});

describe("a signed body has one meaning, whatever Content-Type says:", () => {
  it("JSON is no form whose fields a text in it writes", async () => {
    const { send } = await published({});
    const json = '{"note":"&payload=%7B%22tag%22%3A%5B%22x%22%5D%7D&"}';
    expect(expectProblem(await send(json), "invalid_input").detail).toContain("application/json");
    expectProblem(await send(` ${json}`), "invalid_input");
    const parts = `--b\r\nContent-Disposition: form-data; name="note"\r\n\r\n&tag=x&\r\n--b--\r\n`;
    expectProblem(await send(parts), "invalid_input");
    expectProblem(await send(`&${parts}`, "multipart/form-data; boundary=b"), "invalid_input");
    expect((await send(parts, "multipart/form-data; boundary=b")).status).toBe(202);
  });

  it("JSON in UTF-8 is not read in a charset in which a character takes the backslash after it", async () => {
    const { send, received } = await published({});
    const json = JSON.stringify({ note: '\u4f60","tag":["x"],"a":"' });
    for (const charset of ["gbk", "utf-16le"])
      expectProblem(await send(json, `application/json; charset=${charset}`), "invalid_json");
    const payload = `payload=${encodeURIComponent(json)}`;
    expectProblem(await send(payload, `${FORM}; charset=gbk`), "invalid_input");
    // U+4E00 and U+4E5E in GBK, of which the first is also a character of UTF-8.
    const gbk = Buffer.from('{"tag":["\xd2\xbb","\xc6\xf2"]}', "latin1");
    expect((await received(gbk, "application/json; charset=gbk")).run.output).toEqual(["\u4e00", "\u4e5e"]);
  });
});

describe("JSON that a webhook receives", () => {
  const json = '{"tag":["ü"]}';

  it.each([
    ["UTF-8 with a byte order mark", Buffer.from(`\uFEFF${json}`), "application/json"],
    ["UTF-16 with a byte order mark", Buffer.from(`\uFEFF${json}`, "utf16le"), "application/json"],
    ["UTF-16 by its charset", Buffer.from(json, "utf16le"), "application/json; charset=utf-16le"],
    ["Latin-1 by its charset", Buffer.from(json, "latin1"), 'APPLICATION/JSON ; Charset="iso-8859-1"'],
    ["any other type", Buffer.from(json), "text/plain"],
  ])("is read in %s", async (_what, body, type) => {
    const { received } = await published({});
    expect((await received(body, type)).run.output).toEqual(["ü"]);
  });

  it("is refused with its charset where bytes are not valid in it", async () => {
    const { send } = await published({});
    const latin = Buffer.from(json, "latin1");
    expect(expectProblem(await send(latin, "application/json"), "invalid_json").detail).toContain("UTF-8");
    const ascii = expectProblem(await send(latin, "application/json; charset=us-ascii"), "invalid_json");
    expect(ascii.detail).toContain('"us-ascii"');
    expectProblem(await send(latin, "application/json; charset=x-none"), "unsupported_media_type");
    const xml = expectProblem(await send("<tag>b</tag>", "text/xml; charset=utf-8"), "invalid_json");
    expect(xml.detail).toContain("Its Content-Type is text/xml. Send JSON, or a form.");
  });
});
