import { describe, expect, it } from "vitest";
import { pino } from "pino";
import { openInstance } from "../../src/app/instance.ts";
import { OPERATOR_ACTOR } from "../../src/commands/operator.ts";
import { systemClock } from "../../src/core/clock.ts";
import { testCli } from "../support/command-line.ts";

const WORKFLOW = "name: Weekly\nsteps:\n  - id: a\n    type: set\n    values: { n: 1 }\n";

/** A state with a workflow of five versions. */
async function open() {
  const cli = await testCli({ weekly: WORKFLOW });
  const withInstance = async <T>(
    work: (instance: Awaited<ReturnType<typeof openInstance>>) => Promise<T>,
  ) => {
    const instance = await openInstance({ stateDir: cli.stateDir }, systemClock, pino({ level: "silent" }));
    try {
      return await work(instance);
    } finally {
      await instance.close();
    }
  };
  await withInstance((instance) =>
    instance.write({ operation: "test", actor: OPERATOR_ACTOR, requestId: "req_1" }, async (tx) => {
      for (let n = 2; n <= 5; n += 1) {
        const current = (await tx.workflows.find("weekly"))!;
        const definition = { steps: [{ id: "a", type: "set", values: { n } }] };
        await tx.workflows.addVersion(
          current,
          { ...current, definition },
          { kind: "updated", reason: null, actor: OPERATOR_ACTOR },
        );
      }
    }),
  );
  return { ...cli, withInstance };
}

describe("millrace storage", () => {
  it("lists what owners store, and corrects a wrong count", async () => {
    const { cli, withInstance } = await open();
    const { out } = await cli("storage", "--json");
    expect(JSON.parse(out)).toEqual([{ owner: "the command line", bytes: expect.any(Number) }]);
    expect((await cli("storage")).out).toBe("the command line  0.0 MiB\n");
    expect((await cli("storage", "recount")).out).toBe("All counts are right.\n");
    await withInstance(({ store }) =>
      store.transaction((trx) => trx.updateTable("stored_bytes").set({ bytes: 1 }).execute()),
    );
    const { out: doctor } = await cli("doctor", "--full", "--json", "--port", "1", "--mcp-port", "2");
    expect(JSON.parse(doctor)).toContainEqual(
      expect.objectContaining({
        check: "stored bytes",
        status: "warning",
        fix: "Run millrace storage recount.",
      }),
    );
    expect((await cli("storage", "recount")).out).toBe("1 count corrected.\n");
    expect(JSON.parse((await cli("storage", "--json")).out)).toEqual(JSON.parse(out));
  });

  it("prunes old versions when asked to, with an audit entry", async () => {
    const { cli, withInstance } = await open();
    const rule = ["--keep", "2", "--older-than", "0s"];
    const dry = await cli("storage", "prune-versions", ...rule, "--dry-run");
    expect(dry.out).toBe(
      "weekly: 3 versions (1 to 3), 0.0 MiB\n" +
        "3 definitions with 0.0 MiB would be deleted; who changed what, when and why is kept.\n",
    );
    const refused = await cli("storage", "prune-versions", ...rule);
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.err).toContain("Nothing was pruned");
    const definitions = () =>
      withInstance(async ({ read }) => {
        const versions = await read.workflows.versions({
          id: "weekly",
          before: null,
          limit: 9,
          withDefinition: true,
        });
        return versions.filter(({ definition }) => definition !== null).map(({ version }) => version);
      });
    expect(await definitions()).toEqual([5, 4, 3, 2, 1]);
    const { out } = await cli("storage", "prune-versions", ...rule, "--yes");
    expect(out).toContain("3 versions pruned. The database file does not shrink; its space is used again.\n");
    expect(await definitions()).toEqual([5, 4]);
    const entries = await withInstance(({ store }) =>
      store.read
        .selectFrom("audit_log")
        .select(["operation", "target"])
        .orderBy("id", "desc")
        .limit(1)
        .execute(),
    );
    expect(entries).toEqual([{ operation: "prune_versions", target: "weekly" }]);
    expect((await cli("storage", "prune-versions", ...rule, "--yes")).out).toMatch(
      /^No version can be pruned/,
    );
  });

  it("says what is wrong with its options", async () => {
    const { cli } = await open();
    const age = await cli("storage", "prune-versions", "--older-than", "soon");
    expect(age.err).toContain("--older-than must be a duration such as 30d, got soon.");
    const unknown = await cli("storage", "prune-versions", "--workflow", "monthly");
    expect(unknown.err).toContain('There is no workflow "monthly". Nothing was pruned.');
  });
});
