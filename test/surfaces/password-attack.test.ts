import { describe, expect, it } from "vitest";
import { openPasswords } from "../../src/auth/passwords.ts";
import { apiClient } from "../support/http.ts";
import { testInstance } from "../support/instance.ts";
import { addUser } from "../support/users.ts";

const ANN = "ann@example.com";
const PASSWORD = "a quiet river at night";
const CHEAP = { logN: 4, r: 8, p: 1 };
const BEHIND_PROXY = { MILLRACE_TRUSTED_PROXIES: "127.0.0.1" };

/** One guess: the account, and the address that it claims to come from. */
interface Guess {
  email?: string;
  from?: string;
  password?: string;
}

/** Two copies of the server on one state directory, with a user whose password is attacked. */
async function attacked(env: Record<string, string> = BEHIND_PROXY) {
  const one = await testInstance();
  const other = await testInstance({ stateDir: one.stateDir });
  const urls = [await one.rest({ env }), await other.rest({ env })].map(({ url }) => url);
  const passwordHash = await openPasswords({ parameters: CHEAP }).hash(PASSWORD);
  await addUser(one, { email: ANN, role: "admin", passwordHash });

  const guess = async ({ email = ANN, from = "192.0.2.1", password = "wrong" }: Guess, which = 0) => {
    const body = { email, password };
    const answer = await apiClient(urls[which]!)("POST", "/session", body, { "X-Forwarded-For": from });
    return answer.status === 200 ? "in" : (answer.body.code as string);
  };
  return {
    guess,
    /** Guesses `count` times, 50 at a time, alternating between the copies. Returns the number of guesses that were checked. */
    async attack(count: number, guessed: (index: number) => Guess): Promise<number> {
      const answers: string[] = [];
      for (let from = 0; from < count; from += 50) {
        const tries = Array.from({ length: Math.min(50, count - from) }, (_, i) => from + i);
        answers.push(...(await Promise.all(tries.map((i) => guess(guessed(i), i % 2)))));
      }
      const known = new Set(["sign_in_failed", "too_many_attempts", "busy"]);
      expect(answers.filter((code) => !known.has(code))).toEqual([]);
      return answers.filter((code) => code === "sign_in_failed").length;
    },
  };
}

describe("a password attack on two copies at once", () => {
  it("gets 5 guesses from one address at one account, while its owner can sign in from elsewhere", async () => {
    const { attack, guess } = await attacked();
    expect(await attack(300, () => ({}))).toBe(5);
    expect(await guess({ password: PASSWORD })).toBe("too_many_attempts");
    expect(await guess({ password: PASSWORD, from: "198.51.100.7" })).toBe("in");
  });

  it("gets 20 guesses from 50 addresses at one account", async () => {
    const { attack } = await attacked();
    const through = await attack(500, (i) => ({ from: `192.0.2.${i % 50}` }));
    expect(through).toBeGreaterThan(10);
    expect(through).toBeLessThanOrEqual(20);
  });

  it("gets 30 guesses from one address at 100 accounts, known or unknown", async () => {
    const { attack } = await attacked();
    const through = await attack(500, (i) => ({
      email: i % 100 === 0 ? ANN : `nobody${i % 100}@example.com`,
    }));
    expect(through).toBeGreaterThan(15);
    expect(through).toBeLessThanOrEqual(30);
  });

  it("gets no more from the addresses of one IPv6 network than from one", async () => {
    const { attack } = await attacked();
    expect(await attack(100, (i) => ({ from: `2001:db8:0:7::${i.toString(16)}` }))).toBe(5);
  });

  it("gets no more by claiming other addresses, if no proxy is trusted", async () => {
    const { attack, guess } = await attacked({});
    expect(await attack(100, (i) => ({ from: `192.0.2.${i}` }))).toBe(5);
    expect(await guess({ password: PASSWORD, from: "198.51.100.7" })).toBe("too_many_attempts");
  });

  it("gets no more by claiming addresses before those that the proxy adds", async () => {
    const { attack } = await attacked();
    expect(await attack(100, (i) => ({ from: `198.51.100.${i}, 192.0.2.1` }))).toBe(5);
  });

  it("gets no more by signing in with the attacker's own account in between", async () => {
    const { attack, guess } = await attacked();
    let through = 0;
    for (let round = 0; round < 10; round += 1) {
      through += await attack(10, (i) => ({
        email: i % 2 === 0 ? "bea@example.com" : `nobody${round}-${i}@example.com`,
      }));
      await guess({ password: PASSWORD });
    }
    expect(through).toBeLessThanOrEqual(30);
  });
});
