import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../support/directories.ts";
import { PASSWORD } from "../../support/postgres.ts";
import { postgresStores } from "../../support/postgres-stores.ts";
import { runCommand } from "../../support/process.ts";
import { transactionPooler } from "../../support/transaction-pooler.ts";

const { createDatabase, open } = postgresStores();

describe("doctor", () => {
  it("finds whether notifications arrive, at the address that listens", async () => {
    const url = await createDatabase({ template: "template0" });
    const env = {
      MILLRACE_STATE_DIR: temporaryDirectory(),
      MILLRACE_DATABASE_URL: url,
      MILLRACE_DATABASE_PASSWORD: PASSWORD,
    };
    await (await open(url)).close();
    const pooled = await transactionPooler(url);
    const elsewhere = await createDatabase({ template: "template0" });
    const check = async (variables: Record<string, string>) => {
      const { out } = await runCommand(["doctor", "--json"], { ...env, ...variables });
      const results = JSON.parse(out) as { check: string; status: string; detail: string; fix?: string }[];
      // The other checks of the database follow, whatever this one finds.
      expect(results.map((one) => one.check)).toContain("migrations");
      const { status, detail, fix } = results.find((one) => one.check === "notifications")!;
      return { status, detail, fix };
    };
    const listenUrl = "MILLRACE_DATABASE_LISTEN_URL";
    expect(await check({})).toEqual({ status: "ok", detail: "arrive", fix: undefined });
    expect(await check({ [listenUrl]: url })).toEqual({ status: "ok", detail: "arrive", fix: undefined });
    expect(await check({ MILLRACE_DATABASE_URL: pooled })).toEqual({
      status: "warning",
      detail: expect.stringMatching(/^do not arrive: MILLRACE_DATABASE_URL leads through a pooler/) as string,
      fix: "Set MILLRACE_DATABASE_LISTEN_URL to the address of the server itself.",
    });
    expect(await check({ MILLRACE_DATABASE_URL: pooled, [listenUrl]: url })).toMatchObject({
      status: "ok",
      detail: expect.stringMatching(
        /^arrive at MILLRACE_DATABASE_LISTEN_URL; .* leads through a pooler/,
      ) as string,
    });
    expect(await check({ [listenUrl]: elsewhere })).toMatchObject({
      status: "warning",
      detail: expect.stringContaining("or to another database") as string,
      fix: expect.stringContaining("with the database that MILLRACE_DATABASE_URL names") as string,
    });
    expect(await check({ [listenUrl]: `${url}_missing` })).toEqual({
      status: "warning",
      detail: expect.stringMatching(
        /^do not arrive, because the connection that listens failed: The database does not exist\./,
      ) as string,
      fix: "Check MILLRACE_DATABASE_LISTEN_URL.",
    });
  });
});
