import { describe, expect, it } from "vitest";
import { countMails } from "../../src/core/mail-limits.ts";
import { type PerKeyLimits, type UsageHolder, usageHolders } from "../../src/core/usage-limits.ts";

const holder: UsageHolder = {
  subject: "key_a",
  label: '"a"',
  limits: { mails_to_address_per_hour: 5 },
  settingName: (limit) => limit,
};

const none = () => Promise.resolve(0);

/** The names that a mail to these addresses is counted under, in the order in which their rows are locked. */
async function locked(addresses: readonly string[]): Promise<string[]> {
  const subjects: string[] = [];
  const reserve = (subject: string): Promise<boolean> => Promise.resolve(subjects.push(subject) > 0);
  await countMails({ reserve, add: none, usedInWindow: none }, [holder], addresses, 0);
  return subjects;
}

it("locks mailboxes in one order, so that two mails to the same addresses can't wait for each other", async () => {
  const order = ["key_a ann@example.com", "key_a ben@example.com", "key_a cai@example.com"];
  expect(await locked(["ben@example.com", "Cai+2@example.com", "ann@example.com"])).toEqual(order);
  expect(await locked(["cai@example.com", "ann@example.com", "ben+1@example.com"])).toEqual(order);
});

const person = (owner: string, keyName: string) => ({ owner, keyName, lineage: `key_${keyName}` });
const ANN = person("ann@example.com", "ann");
const AGENT = person("ann@example.com", "agent");
const BEN = person("ben@example.com", "ben");
const CI = person("operator", "ci");

/** Mails in the name of callers in a project, with limits of each owner and of the project, counted in memory. */
function counted(perKey: PerKeyLimits, project: PerKeyLimits | null) {
  const counts = new Map<string, number>();
  const used = (...of: unknown[]) => counts.get(of.join("|")) ?? 0;
  const usage: Parameters<typeof countMails>[0] = {
    add(subject, kind, endsAt, amount) {
      counts.set([subject, kind, endsAt].join("|"), used(subject, kind, endsAt) + amount);
      return Promise.resolve(used(subject, kind, endsAt));
    },
    async reserve(subject, kind, endsAt, { amount, max }) {
      if (used(subject, kind, endsAt) + amount > max) return false;
      await this.add(subject, kind, endsAt, amount);
      return true;
    },
    usedInWindow: (...of) => Promise.resolve(used(...of)),
  };
  const holdersOf = usageHolders(perKey, { projectLimits: () => Promise.resolve(project) });
  const send = async (by: typeof ANN, ...to: string[]) =>
    countMails(usage, await holdersOf(by, "finance"), to, 0);
  /** Sends until no more is sent. @returns how many were sent, and why no more was */
  async function flood(by: typeof ANN, to = "all@example.com") {
    for (let sent = 0; ; sent += 1) {
      const held = await send(by, to);
      if (held !== undefined) return { sent, held };
    }
  }
  const total = () => [...counts.values()].reduce((sum, count) => sum + count, 0);
  return { send, flood, total };
}

describe("countMails", () => {
  it.each(["mails_per_hour", "mails_to_address_per_hour"])(
    "leaves each member of a project a share of its %s, in any order",
    async (limit) => {
      const { flood } = counted({}, { [limit]: 20 });
      const { sent, held } = await flood(ANN);
      expect(sent).toBe(15);
      expect(held).toEqual({
        message: expect.stringMatching(
          /^ann@example.com \(all their keys and sessions together\) has used its share of the 20 mails .*of this hour that the project "finance" may send/,
        ),
        until: 3_600_000,
      });
      expect((await flood(AGENT)).sent).toBe(0);
      expect((await flood(BEN)).sent).toBe(4);
      expect((await flood(CI)).sent).toBe(1);
    },
  );

  it("leaves each key of a person, and their sessions, a share of their mails", async () => {
    const { flood } = counted({ mails_per_hour: 20 }, null);
    const { sent, held } = await flood(AGENT);
    expect(sent).toBe(15);
    expect(held.message).toContain('"agent" of ann@example.com has used its share of the 20 mails');
    expect((await flood(ANN)).sent).toBe(4);
    expect((await flood(BEN)).sent).toBe(15);
  });

  it("gives a key of the operator, which is an owner of its own, the whole limit", async () => {
    expect((await counted({ mails_per_hour: 20 }, null).flood(CI)).sent).toBe(20);
  });

  it("counts nothing of a mail that one of several limits holds", async () => {
    const { send, flood, total } = counted({ mails_per_hour: 100 }, { mails_per_hour: 8 });
    await flood(ANN);
    const before = total();
    expect(await send(ANN, "x@example.com")).toBeDefined();
    expect(total()).toBe(before);
  });

  it.each([
    [1, 1],
    [2, 1],
    [3, 2],
    [4, 3],
    [5, 4],
    [8, 6],
  ])("gives a lone owner of a limit of %i mails %i (shareAlone)", async (limit, share) => {
    expect((await counted({}, { mails_per_hour: limit }).flood(ANN)).sent).toBe(share);
  });

  it("never sends a mail to more addresses than the share of one owner has, and says so", async () => {
    const { send } = counted({}, { mails_per_hour: 4 });
    const to = ["a", "b", "c", "d"].map((name) => `${name}@example.com`);
    expect(await send(ANN, ...to)).toEqual({
      message:
        "The mail goes to 4 addresses, and ann@example.com (all their keys and sessions together) may send 3 mails in an hour " +
        "(its share of 4, mails_per_hour of the project).",
      until: null,
    });
    expect(await send(ANN, ...to.slice(1))).toBeUndefined();
  });
});
