import Database from "better-sqlite3";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { exampleEnvironment } from "../../support/example-environment.ts";
import { fakeClock } from "../../support/instance.ts";

describe("everyday work with other systems", () => {
  it("updates and inserts in one statement", async () => {
    let contacts = [
      { id: 1, name: "Ann", email: "ann@example.com" },
      { id: 2, name: "Bob", email: "bob@example.com" },
    ];
    const environment = await exampleEnvironment({
      http: () => ({ body: { contacts } }),
      config: (directory) => {
        const dataset = join(directory, "contacts.db");
        const db = new Database(dataset);
        db.exec("create table contacts (id integer primary key, name text, email text)");
        db.exec("insert into contacts values (2, 'Bobby', 'bob@example.com'), (9, 'Zoë', null)");
        db.close();
        return { databases: [{ name: "contacts", type: "sqlite", dataset, access: "read-write" }] };
      },
    });
    const id = await environment.publish("upsert");
    const changed = async () => (await environment.run(id)).output;
    const stored = () => {
      const db = new Database(join(environment.directory, "contacts.db"), { readonly: true });
      try {
        return db.prepare("select id, name from contacts order by id").raw().all();
      } finally {
        db.close();
      }
    };
    expect(await changed()).toEqual({ changed: 2 });
    expect(stored()).toEqual([
      [1, "Ann"],
      [2, "Bob"],
      [9, "Zoë"],
    ]);
    expect(await changed()).toEqual({ changed: 0 });
    contacts = [{ id: 1, name: "Anna", email: "ann@example.com" }];
    expect(await changed()).toEqual({ changed: 1 });
    expect(stored()).toContainEqual([1, "Anna"]);
  });

  it("respects the rate of an API", async () => {
    const calls: number[] = [];
    const clock = fakeClock();
    const environment = await exampleEnvironment({
      clock,
      http: ({ path }) => {
        calls.push(clock.now());
        // More than five requests within a second are refused.
        if (calls.filter((time) => time > clock.now() - 1_000).length > 5) return { status: 429 };
        return { body: { status: `${path.split("/").at(-1)} is on its way` } };
      },
    });
    const parcels = Array.from({ length: 23 }, (_, index) => `P-${index}`);
    const { output } = await environment.run(await environment.publish("rate-limited-api"), { parcels });
    expect(output).toEqual(parcels.map((parcel) => `${parcel} is on its way`));
    expect(calls).toHaveLength(23);
    expect(calls.at(-1)! - calls[0]!).toBe(22 * 200);
  });

  it("sums up a fan-out, says what failed, and fails if everything did", async () => {
    const down = new Set(["market"]);
    const environment = await exampleEnvironment({
      http: ({ path }) => {
        const [, branch] = path.split("/");
        return down.has(branch!) ? { status: 500 } : { body: { pieces: branch!.length } };
      },
    });
    const id = await environment.publish("fan-out-summary");
    const some = await environment.run(id);
    expect(some.output).toEqual({ pieces: 14, failed: [expect.stringContaining("500")] });
    expect(environment.mails[0]).toContain("1 branches failed.");
    for (const branch of ["harbour", "station"]) down.add(branch);
    const none = await environment.run(id);
    expect(none).toMatchObject({
      status: "failed",
      error: { code: "assert_failed", message: expect.stringContaining('All 3 items of "stock" failed') },
      continued_failures: 1,
    });
    expect(environment.mails).toHaveLength(1);
  });
});
