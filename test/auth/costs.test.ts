/** Hashes with the parameters of a server, which take too long to be repeated for each change of a mutation test. */
import { describe, expect, it } from "vitest";
import { openPasswords } from "../../src/auth/passwords.ts";

const PASSWORD = "plant lamp river";

describe("a password's hash", () => {
  it("takes 32 MiB, and a check without a hash takes as long", async () => {
    const passwords = openPasswords();
    const hash = await passwords.hash(PASSWORD);
    // scrypt's file header: "scrypt", the version, log2 N, r, p.
    expect(Buffer.from(hash, "base64").toString("hex", 6, 16)).toBe("000f0000000800000003");
    // Processor time of all threads: the hash is computed in one of its own.
    const costOf = async (storedHash: string | null) => {
      const start = process.cpuUsage();
      await passwords.verify("wrong", storedHash);
      const { user, system } = process.cpuUsage(start);
      return user + system;
    };
    const [known, unknown] = [await costOf(hash), await costOf(null)];
    expect(unknown).toBeGreaterThan(known / 4);
  });
});
