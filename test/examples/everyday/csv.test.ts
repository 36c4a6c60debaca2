import { describe, expect, it } from "vitest";
import { exampleEnvironment } from "../../support/example-environment.ts";

describe("everyday work with files", () => {
  it("joins a CSV with rows of a database, also when no row is cheaper", async () => {
    const environment = await exampleEnvironment();
    const id = await environment.publish("csv-with-sql");
    const prices = 'product,price\n"House blend, 1 kg",16.5\r\n"Green tea, 100 g",9\n"Hand grinder",60\n';
    expect((await environment.run(id, { prices })).output).toEqual([
      { name: "Hand grinder", saved: 4 },
      { name: "House blend, 1 kg", saved: 2 },
    ]);
    expect((await environment.run(id, { prices: "product,price\n" })).output).toEqual([]);
  });
});
