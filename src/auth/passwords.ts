/** Passwords: hashed slowly, compared, and refused when they are easily guessed. */
import { availableParallelism } from "node:os";
import * as scryptKdf from "scrypt-kdf";
import { normalizedPassword, passwordIssue } from "../../schemas/password.ts";
import type { Issue } from "../../schemas/problem.ts";
import { AppError } from "../core/errors.ts";
import { checkPasswordStrength } from "./password-strength.ts";
import { concurrencyLimiter } from "./concurrency-limiter.ts";

// The package has a default export only; its types say otherwise.
const scrypt = (scryptKdf as unknown as { default: typeof scryptKdf }).default;

/**
 * One of the equivalents of OWASP's Password Storage Cheat Sheet: N=2^15, r=8, p=3. It costs a guesser what 2^17/8/1
 * does, in a quarter of the memory: 32 MiB a hash. Two at a time are 64 MiB then, which a container of 512 MB has;
 * the 256 MiB of two at 2^17 it has not, beside the two listeners and an executor.
 */
const OWASP = { logN: 15, r: 8, p: 3 };
/**
 * Each holds one of libuv's four threads (files and name look-ups keep the others), and a core: half of the cores are
 * left to everybody else, however many guess.
 */
const AT_A_TIME = Math.max(1, Math.min(2, Math.floor(availableParallelism() / 2)));
const WAITING = 16;

type Parameters = typeof OWASP;

export interface Passwords {
  /**
   * The hash to be kept, with its parameters and salt.
   * @throws AppError busy when too many wait
   */
  hash(password: string): Promise<string>;
  /** @throws AppError busy when too many wait: asked before anything is written for one that would be turned away */
  assertCapacity(): void;
  /**
   * Whether it is the password. Without a hash (no such account, none chosen yet) as much work is done for a no.
   * `stale`: the hash was made with other parameters, so a new one should be kept.
   * @throws AppError busy when too many wait
   */
  verify(password: string, hash: string | null): Promise<{ ok: boolean; stale: boolean }>;
  /**
   * Whether it may be somebody's new password.
   * @throws AppError invalid_input with a fault at `password`
   */
  validate(password: string, email: string): Promise<void>;
}

/**
 * @param options.parameters scrypt's; cheap ones are for tests
 * @param options.waiting how many may wait for their turn
 * @param options.atATime how many are worked out at a time
 */
export function openPasswords({
  parameters = OWASP,
  waiting = WAITING,
  atATime = AT_A_TIME,
}: { parameters?: Parameters; waiting?: number; atATime?: number } = {}): Passwords {
  const inTurn = concurrencyLimiter(
    atATime,
    waiting,
    () =>
      new AppError("busy", "Many people sign in just now. Try again in 2 s.", {
        headers: { "Retry-After": "2" },
      }),
  );
  const derive = (password: string) => inTurn(() => scrypt.kdf(normalizedPassword(password), parameters));

  return {
    assertCapacity: inTurn.assertCapacity,
    hash: async (password) => Buffer.from(await derive(password)).toString("base64"),

    async verify(password, hash) {
      const made = hash === null ? undefined : parametersOf(hash);
      if (hash === null || made === undefined) {
        await derive(password);
        return { ok: false, stale: false };
      }
      const ok = await inTurn(() => scrypt.verify(hash, normalizedPassword(password)));
      const { logN, r, p } = parameters;
      return { ok, stale: made.logN !== logN || made.r !== r || made.p !== p };
    },

    async validate(password, email) {
      const issue =
        passwordIssue(password) ?? (await checkPasswordStrength(normalizedPassword(password), email));
      if (issue !== undefined) throw unfit(issue);
    },
  };
}

/** Undefined for what is no hash of scrypt-kdf: nobody signs in by it. */
function parametersOf(hash: string): Parameters | undefined {
  try {
    return scrypt.viewParams(hash);
  } catch {
    return undefined;
  }
}

const unfit = (issue: Omit<Issue, "path">): AppError =>
  new AppError("invalid_input", `The password ${issue.message}. ${issue.fix ?? ""}`.trim(), {
    errors: [{ path: "password", ...issue }],
  });
