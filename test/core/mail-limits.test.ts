import { expect, it } from "vitest";
import { countMails } from "../../src/core/mail-limits.ts";
import type { UsageHolder } from "../../src/core/usage-limits.ts";

const holder: UsageHolder = {
  subject: "key_a",
  label: '"a"',
  limits: { mails_to_address_per_hour: 5 },
  settingName: (limit) => limit,
};

/** The names that a mail to these addresses is counted under, in the order in which their rows are locked. */
async function locked(addresses: readonly string[]): Promise<string[]> {
  const subjects: string[] = [];
  const reserve = (subject: string): Promise<boolean> => Promise.resolve(subjects.push(subject) > 0);
  await countMails({ reserve, add: () => Promise.resolve(0) }, [holder], addresses, 0);
  return subjects;
}

it("locks mailboxes in one order, so that two mails to the same addresses can't wait for each other", async () => {
  const order = ["key_a ann@example.com", "key_a ben@example.com", "key_a cai@example.com"];
  expect(await locked(["ben@example.com", "Cai+2@example.com", "ann@example.com"])).toEqual(order);
  expect(await locked(["cai@example.com", "ann@example.com", "ben+1@example.com"])).toEqual(order);
});
