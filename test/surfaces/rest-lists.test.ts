import { describe, expect, it } from "vitest";
import { cursorCodec } from "../../src/core/cursors.ts";
import type { ApiClient } from "../support/http.ts";
import { fakeClock } from "../support/instance.ts";
import { insertWorkflows } from "../support/many-workflows.ts";
import { expectProblem, openRest } from "../support/rest.ts";

type Item = { id: string; version: number };

/** The address behind rel="next". */
const nextOf = (headers: Headers): string | undefined =>
  /^<([^>]+)>; rel="next"$/.exec(headers.get("link") ?? "")?.[1];

/** Follows Link to the end. */
async function walk(call: ApiClient, path: string): Promise<{ items: Item[]; pages: number }> {
  const items: Item[] = [];
  let pages = 0;
  for (let next: string | undefined = path; next !== undefined; pages += 1) {
    const answer = await call<Item[]>("GET", next);
    expect(answer.status).toBe(200);
    items.push(...answer.body);
    next = nextOf(answer.headers);
  }
  return { items, pages };
}

const idsOf = (items: readonly Item[]): string[] => items.map(({ id }) => id);

async function withSome() {
  const clock = fakeClock();
  const opened = await openRest({ clock });
  const create = async (name: string, more = {}) => {
    await opened.call("POST", "/workflows", { name, ...more });
    clock.advance(1_000);
  };
  await create("Banana", { tags: ["fruit", "yellow"], description: "long and sweet" });
  await create("apple", { tags: ["fruit"], description: "round and sour" });
  await create("Cabbage", { tags: ["vegetable"], description: "ROUND and green" });
  await create("Äpfel 100%", { tags: ["fruit_salad"], description: "a_b" });
  return { ...opened, clock };
}

describe("GET /workflows", () => {
  it("holds every workflow without paging parameters", async () => {
    const { instance, call } = await openRest();
    await insertWorkflows(instance, { count: 1_200 });
    const { body, headers } = await call<Item[]>("GET", "/workflows");
    expect(body).toHaveLength(1_200);
    expect(new Set(idsOf(body)).size).toBe(1_200);
    expect(headers.get("x-total-count")).toBe("1200");
    expect(headers.has("link")).toBe(false);
    // The cached answer must have the same bytes.
    expect((await call<Item[]>("GET", "/workflows")).body).toEqual(body);
  });

  it("serves others between its pages, though the store answers at once", async () => {
    const { instance, call } = await openRest();
    await insertWorkflows(instance, { count: 1_200 });
    const { workflows } = instance.services.read;
    const { page } = workflows;
    let [turns, isCounting] = [0, true];
    const count = (): void => {
      turns += 1;
      if (isCounting) setImmediate(count);
    };
    setImmediate(count);
    const seenAt: number[] = [];
    workflows.page = (query) => {
      seenAt.push(turns);
      return page(query);
    };
    await call("GET", "/workflows");
    isCounting = false;
    expect(seenAt).toHaveLength(6);
    expect(new Set(seenAt).size).toBe(6);
  });

  it("says where counting stopped", async () => {
    const { instance, call } = await openRest();
    await insertWorkflows(instance, { count: 10_001 });
    const totals = async (query: string) => {
      const { headers } = await call("GET", `/workflows?limit=1${query}`);
      return [headers.get("x-total-count"), headers.get("x-total-count-capped")];
    };
    expect(await totals("")).toEqual(["10000", "true"]);
    expect(await totals("&search=many")).toEqual(["1000", "true"]);
    expect(await totals("&search=many-00000")).toEqual(["9", null]);
    await instance.store.transaction((trx) =>
      trx.deleteFrom("workflows").where("id", "=", "many-000001").execute(),
    );
    expect(await totals("&sort=name")).toEqual(["10000", null]);
  });

  it("reads a first page once until a workflow changes", async () => {
    const { instance, call } = await openRest();
    await insertWorkflows(instance, { count: 30 });
    const { workflows } = instance.services.read;
    const { page } = workflows;
    let reads = 0;
    workflows.page = (query) => {
      reads += 1;
      return page(query);
    };
    const get = (path: string) => call<Item[]>("GET", path);
    const first = await get("/workflows?limit=10");
    const again = await get("/workflows?limit=10");
    expect([again.body, again.headers.get("link"), again.headers.get("x-total-count")]).toEqual([
      first.body,
      first.headers.get("link"),
      "30",
    ]);
    expect(reads).toBe(1);
    expect((await get("/workflows?limit=9")).body).toHaveLength(9);
    await call("POST", "/workflows", { name: "New" });
    expect((await get("/workflows?limit=10")).body[0]).toMatchObject({ name: "New" });
    expect(reads).toBe(3);
  });

  it("is an empty array when there is none", async () => {
    const { call } = await openRest();
    const { body, headers } = await call("GET", "/workflows");
    expect(body).toEqual([]);
    expect(headers.get("x-total-count")).toBe("0");
  });

  it("of ids holds these, archived ones too, and nothing of ids that do not exist", async () => {
    const { call } = await withSome();
    await call("DELETE", "/workflows/apple");
    const { body } = await call<Item[]>("GET", "/workflows?ids=banana,apple,nope&sort=name&limit=100");
    expect(idsOf(body)).toEqual(["apple", "banana"]);
    expect(idsOf((await call<Item[]>("GET", "/workflows?ids=banana,apple&status=draft")).body)).toEqual([
      "banana",
    ]);
    const tooMany = Array.from({ length: 101 }, (_, number) => `w${number}`).join(",");
    const { errors } = expectProblem(await call("GET", `/workflows?ids=${tooMany}`), "invalid_input");
    expect(errors).toMatchObject([{ path: "ids", code: "too_long" }]);
  });

  it.each([1, 7, 50, 200])("lists everything exactly once through Link, %i at a time", async (limit) => {
    const { instance, call } = await openRest();
    await insertWorkflows(instance, { count: 157 });
    const whole = await call<Item[]>("GET", "/workflows?sort=name");
    const { items, pages } = await walk(call, `/workflows?sort=name&limit=${limit}`);
    expect(items).toEqual(whole.body);
    expect(pages).toBe(Math.ceil(157 / limit));
  });

  it.each(["created_at", "-created_at", "updated_at", "-updated_at", "name", "-name"])(
    "pages through ties without loss, sorted by %s",
    async (sort) => {
      const { instance, call } = await openRest();
      await insertWorkflows(instance, { count: 30, name: "the same", at: "2026-01-01T00:00:00.000Z" });
      const { items } = await walk(call, `/workflows?limit=4&sort=${sort}`);
      expect(idsOf(items).toSorted()).toEqual(idsOf((await call("GET", "/workflows")).body).toSorted());
      expect(new Set(idsOf(items)).size).toBe(30);
    },
  );

  it("lists every workflow that existed at the first page, despite changes in between", async () => {
    const { instance, call } = await openRest();
    await insertWorkflows(instance, { count: 20 });
    const before = idsOf((await call<Item[]>("GET", "/workflows")).body);
    const met: string[] = [];
    let next: string | undefined = "/workflows?limit=3";
    while (next !== undefined) {
      const { body, headers }: { body: Item[]; headers: Headers } = await call("GET", next);
      met.push(...idsOf(body));
      await call("POST", "/workflows", { name: "newcomer" });
      await call("PATCH", `/workflows/${before[0]}`, { name: `renamed ${met.length}` });
      next = nextOf(headers);
    }
    expect(met.filter((id) => before.includes(id))).toEqual(before);
  });

  it("keeps the filters in Link, in any encoding", async () => {
    const { call } = await openRest();
    for (const name of ["why? a", "why? b", "why? c"])
      await call("POST", "/workflows", { name, tags: ["q&a"] });
    // A question mark need not be encoded in a query: RFC 3986, section 3.4.
    const { items, pages } = await walk(call, "/workflows?tag=q%26a&search=why?&limit=1&sort=name");
    expect(idsOf(items)).toEqual(["why-a", "why-b", "why-c"]);
    expect(pages).toBe(3);
  });

  it("counts all that match in X-Total-Count, on every page", async () => {
    const { call } = await withSome();
    for (const path of ["/workflows?tag=fruit", "/workflows?tag=fruit&limit=1"]) {
      expect((await call("GET", path)).headers.get("x-total-count")).toBe("2");
    }
  });

  it.each([
    ["sort=name", ["apple", "banana", "cabbage", "aepfel-100"]],
    ["sort=-name", ["aepfel-100", "cabbage", "banana", "apple"]],
    ["", ["aepfel-100", "cabbage", "apple", "banana"]],
    ["sort=created_at", ["banana", "apple", "cabbage", "aepfel-100"]],
    ["search=ROUND", ["cabbage", "apple"]],
    ["search=sweet+long", ["banana"]],
    ["search=%C3%A4PFEL", ["aepfel-100"]],
    ["search=%25", ["aepfel-100"]],
    ["search=a_b", ["aepfel-100"]],
    ["search=fruit", ["aepfel-100", "apple", "banana"]],
    ["search=nothing", []],
    ["tag=fruit", ["apple", "banana"]],
    ["tag=frui", []],
    ["tag=Fruit", ["apple", "banana"]],
    ["status=draft&tag=vegetable", ["cabbage"]],
    ["status=published", []],
  ])("answers ?%s", async (query, ids) => {
    const { call } = await withSome();
    expect(idsOf((await call("GET", `/workflows?${query}`)).body)).toEqual(ids);
  });

  it("sorts by the last change, and adds definitions on request", async () => {
    const { call } = await withSome();
    await call("PATCH", "/workflows/apple", { definition: { steps: [] } });
    const { body } = await call("GET", "/workflows?sort=-updated_at&include=definition");
    expect(body[0]).toMatchObject({ id: "apple", definition: { steps: [] } });
    expect(body[1].definition).toBeNull();
    const { body: plain } = await call("GET", "/workflows?include=");
    expect(plain[0]).not.toHaveProperty("definition");
  });

  it.each([
    ["limit=0", "limit", "too_small"],
    ["limit=201", "limit", "too_large"],
    ["limit=ten", "limit", "wrong_type"],
    ["limit=1.5", "limit", "wrong_type"],
    ["limit=1&limit=2", "limit", "wrong_type"],
    ["limit=", "limit", "wrong_type"],
    ["search=", "search", "too_short"],
    ["search=%00", "search", "invalid_text"],
    ["status=deleted", "status", "not_allowed"],
    ["cursor=", "cursor", "too_short"],
  ])("refuses ?%s", async (query, path, code) => {
    const { call } = await openRest();
    const { errors } = expectProblem(await call("GET", `/workflows?${query}`), "invalid_input");
    expect(errors).toMatchObject([{ path, code }]);
  });

  it("reports all unknown parameters at once, with near matches", async () => {
    const { call } = await openRest();
    const answer = await call("GET", "/workflows?serch=x&sort=nam&include=definitions&page=2");
    const { errors } = expectProblem(answer, "invalid_input");
    expect(errors).toMatchObject([
      { path: "serch", code: "unknown_key", did_you_mean: "search", fix: "Write search, or remove it." },
      { path: "page", code: "unknown_key", fix: "Write cursor, or remove it." },
      { path: "sort", code: "not_allowed", did_you_mean: "name" },
      {
        path: "include[0]",
        code: "not_allowed",
        allowed: ["definition", "last_run"],
        did_you_mean: "definition",
      },
    ]);
    expect(errors![0]!.allowed).toContain("search");
  });
});

describe("GET …/versions as a list", () => {
  it("pages like every other list, and holds everything without paging parameters", async () => {
    const { call } = await openRest();
    await call("POST", "/workflows", { name: "A" });
    for (let i = 2; i <= 23; i += 1) await call("PATCH", "/workflows/a", { description: String(i) });
    const whole = await call("GET", "/workflows/a/versions");
    expect(whole.body).toHaveLength(23);
    expect(whole.headers.get("x-total-count")).toBe("23");
    const { items, pages } = await walk(call, "/workflows/a/versions?limit=5");
    expect(items).toEqual(whole.body);
    expect(pages).toBe(5);
  });
});

/** A cursor, and the list it was made for. */
async function withCursor() {
  const opened = await withSome();
  const { headers } = await opened.call("GET", "/workflows?limit=1&sort=name");
  const cursor = new URL(nextOf(headers)!, opened.url).searchParams.get("cursor")!;
  return { ...opened, cursor };
}

describe("a cursor", () => {
  it("works with another limit and with definitions: they are the same list", async () => {
    const { call, cursor } = await withCursor();
    const { body } = await call("GET", `/workflows?sort=name&include=definition&limit=2&cursor=${cursor}`);
    expect(idsOf(body)).toEqual(["banana", "cabbage"]);
  });

  it("is refused for another sort, filter or list", async () => {
    const { call, cursor } = await withCursor();
    for (const path of [
      "/workflows?",
      "/workflows?sort=-name&",
      "/workflows?sort=name&tag=fruit&",
      "/workflows?sort=name&search=a&",
      "/workflows?sort=name&status=draft&",
      "/workflows?sort=name&ids=banana,apple&",
      "/workflows/banana/versions?",
    ]) {
      const { detail } = expectProblem(await call("GET", `${path}cursor=${cursor}`), "invalid_cursor");
      expect(detail).toContain("same filters and sort");
    }
  });

  it("is refused for the versions of another workflow", async () => {
    const { call } = await withSome();
    for (const id of ["banana", "apple"]) await call("PATCH", `/workflows/${id}`, { description: "2" });
    const { headers } = await call("GET", "/workflows/banana/versions?limit=1");
    const cursor = new URL(nextOf(headers)!, "http://x").searchParams.get("cursor")!;
    expect((await call("GET", `/workflows/banana/versions?cursor=${cursor}`)).status).toBe(200);
    expectProblem(await call("GET", `/workflows/apple/versions?cursor=${cursor}`), "invalid_cursor");
  });

  it("is refused when it was forged, cut or altered", async () => {
    const { call, cursor } = await withCursor();
    const query = JSON.stringify(["list_workflows", undefined, undefined, undefined, "name"]);
    const forged = cursorCodec(Buffer.alloc(32)).encode(query, ["apple", "apple"]);
    const flipped = (cursor.startsWith("A") ? "B" : "A") + cursor.slice(1);
    const attempts = [
      forged,
      flipped,
      cursor.slice(0, -1),
      cursor.slice(0, 10),
      `${cursor}A`,
      `${cursor}=`,
      `${cursor}%20`,
      "x",
      Buffer.from('["apple","apple"]').toString("base64url"),
    ];
    for (const attempt of attempts) {
      const refused = await call("GET", `/workflows?sort=name&cursor=${attempt}`);
      expect(expectProblem(refused, "invalid_cursor").detail).toContain("does not belong to this list");
    }
  });

  it("is refused by another instance", async () => {
    const [one, two] = [await withCursor(), await withCursor()];
    expect((await one.call("GET", `/workflows?sort=name&cursor=${one.cursor}`)).status).toBe(200);
    const refused = await two.call("GET", `/workflows?sort=name&cursor=${one.cursor}`);
    expect(expectProblem(refused, "invalid_cursor").detail).toContain("does not belong to this list");
  });
});
