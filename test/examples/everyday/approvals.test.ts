import { describe, expect, it } from "vitest";
import { DAY } from "../../../src/core/clock.ts";
import type { Principal } from "../../../src/core/principal.ts";
import type { Run } from "../../../schemas/run.ts";
import { decideApproval } from "../../../tools/approvals/decide-approval.ts";
import { type ExampleEnvironment, exampleEnvironment } from "../../support/example-environment.ts";
import { callAs, keyPrincipal, signedInUser } from "../../support/users.ts";

/** Decides pending approvals as their people do, in this order; without a person, time passes. */
function decisions(
  environment: ExampleEnvironment,
  order: readonly ([string, "approve" | "decline"] | null)[],
  signedIn: ReadonlyMap<string, Principal> = new Map(),
) {
  const left = [...order];
  return async ({ approvals = [] }: Run): Promise<boolean> => {
    const next = left.shift();
    if (next === undefined || next === null) return false;
    const [person, decision] = next;
    const call = callAs(environment, signedIn.get(person) ?? keyPrincipal(["approve"], person));
    await call(decideApproval, { approval_id: approvals[0]!.id, decision });
    return true;
  };
}

/** The subjects and recipients of the mails. */
const headersOf = (mails: readonly string[]): string[] =>
  mails.map((mail) =>
    [/^Subject: (.*)\r$/m, /^To: (.*)\r$/m].map((header) => header.exec(mail)![1]).join(" | "),
  );

describe("everyday work with approvals", () => {
  it("asks a second person above the threshold", async () => {
    const environment = await exampleEnvironment();
    const id = await environment.publish("two-approvers-by-threshold");
    const decide = async (amount: number, ...order: [string, "approve" | "decline"][]) =>
      (await environment.run(id, { amount }, decisions(environment, order))).output;
    const [ann, bob] = ["ann@example.com", "bob@example.com"];
    expect(await decide(1_000, [ann, "approve"])).toEqual({ approved: true });
    expect(await decide(1_000, [ann, "decline"])).toEqual({ approved: false });
    expect(await decide(1_001, [ann, "approve"], [bob, "approve"])).toEqual({ approved: true });
    expect(await decide(1_001, [ann, "approve"], [bob, "decline"])).toEqual({ approved: false });
    expect(await decide(1_001, [ann, "decline"])).toEqual({ approved: false });
    await expect(decide(1_001, [ann, "approve"], [ann, "approve"])).rejects.toMatchObject({
      code: "approval_not_yours",
    });
  });

  it("reminds after a day, and asks the manager after two", async () => {
    const environment = await exampleEnvironment();
    const id = await environment.publish("escalating-reminders");
    const run = async (...order: ([string, "approve" | "decline"] | null)[]) => {
      const start = environment.clock.now();
      const { output, continued_failures: failures = 0 } = await environment.run(
        id,
        {},
        decisions(environment, order),
      );
      return { output, failures, days: (environment.clock.now() - start) / DAY };
    };
    const ann = "ann@example.com";
    const manager = "manager@example.com";
    expect(await run([ann, "approve"])).toEqual({
      output: { approved: true, by: ann },
      failures: 0,
      days: 0,
    });
    expect(await run(null, [ann, "decline"])).toEqual({
      output: { approved: false, by: ann },
      failures: 1,
      days: 1,
    });
    expect(await run(null, null, [manager, "approve"])).toEqual({
      output: { approved: true, by: manager },
      failures: 2,
      days: 2,
    });
    // The mail lists what the decision is for, in quoted-printable.
    expect(environment.mails[0]!.replaceAll("=\r\n", "")).toContain(
      "After the decision these can run:\r\nescalating-reminders (version 1; the rest of this run):\r\n- ",
    );
    // Each of the six approvals was mailed to its assignee.
    expect(environment.mails.map((mail) => /^To: (.*)\r$/m.exec(mail)![1])).toEqual([
      ann,
      ann,
      ann,
      ann,
      ann,
      manager,
    ]);
  });

  describe("a payment", () => {
    const [ann, bob, cai, boss] = [
      "ann@example.com",
      "bob@example.com",
      "cai@example.com",
      "boss@example.com",
    ];

    async function payments() {
      const environment = await exampleEnvironment({ http: () => ({ status: 201, body: { id: "pay_1" } }) });
      const { principal } = await signedInUser(environment.instance, { email: boss, role: "admin" });
      const people = new Map([[boss, principal]]);
      const id = await environment.publish("payment-that-two-people-approve");
      const pay = (...order: readonly ([string, "approve" | "decline"] | null)[]) =>
        environment.run(id, {}, decisions(environment, order, people));
      return { environment, pay };
    }

    it("is made when two people have approved, and once", async () => {
      const { environment, pay } = await payments();
      expect((await pay([ann, "approve"], [cai, "approve"])).output).toEqual({ paid: true, by: [ann, cai] });
      expect(environment.requests.map(({ method, path }) => `${method} ${path}`)).toEqual(["POST /payments"]);
      await expect(pay([ann, "approve"], [ann, "approve"])).rejects.toMatchObject({
        code: "approval_decided",
        message: expect.stringMatching(/^You approved .* 1 of 2 people have approved/) as string,
      });
    });

    it("is not made when one declines", async () => {
      const { environment, pay } = await payments();
      expect((await pay([ann, "approve"], [bob, "decline"])).output).toEqual({ paid: false, by: [ann, bob] });
      expect(environment.requests).toEqual([]);
    });

    it("is asked for again every four hours, of those who have not decided, and of an admin after a day", async () => {
      const { environment, pay } = await payments();
      const nights = Array.from({ length: 6 }, () => null);
      // The sixth reminder and the escalation are due at the same time.
      const { output } = await pay([ann, "approve"], ...nights, [boss, "approve"]);
      expect(output).toEqual({ paid: true, by: [ann, boss] });
      const headers = headersOf(environment.mails);
      const needed = "approval needed: payment-that-two-people-approve | ";
      expect(headers.slice(0, 3)).toEqual(
        [ann, bob, cai].map((email) => `Approval needed: payment-that-two-people-approve | ${email}`),
      );
      expect(headers.filter((header) => header.startsWith("Escalated"))).toEqual([
        `Escalated to you: ${needed}${boss}`,
      ]);
      expect(headers.slice(3, 13)).toEqual(
        Array.from({ length: 5 }, () => [bob, cai].map((email) => `Reminder: ${needed}${email}`)).flat(),
      );
      expect(environment.mails[3]).toContain("1 of 2 people have approved.");
    });

    it("is not made when nobody decides in time", async () => {
      const { pay } = await payments();
      expect((await pay()).output).toEqual({ paid: false, by: [] });
    });
  });
});
