/** Hashes and verifies passwords, and refuses weak ones. */
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
 * One of the equivalent settings of OWASP's Password Storage Cheat Sheet: N=2^15, r=8, p=3. An attack costs as much as with
 * 2^17/8/1, with a quarter of the memory: 32 MiB per hash. Two hashes at a time need 64 MiB, which a container of 512 MB
 * has; the 256 MiB of two hashes with 2^17 do not fit beside two servers and an executor.
 */
const OWASP = { logN: 15, r: 8, p: 3 };
/**
 * Maximum number of hashes at a time. Each occupies a core and one of libuv's four threads, which files and DNS lookups need
 * too. Half of the cores stay free, however many sign-in attempts there are.
 */
const CONCURRENCY = Math.max(1, Math.min(2, Math.floor(availableParallelism() / 2)));
/** Maximum number of hashes that wait for their turn. */
const MAX_WAITING = 16;

type Parameters = typeof OWASP;

export interface Passwords {
  /**
   * Hashes a password; the result includes the parameters and the salt.
   * @throws AppError busy when too many are waiting
   */
  hash(password: string): Promise<string>;
  /** Call this before writing anything for a request that must hash. @throws AppError busy when too many are waiting */
  assertCapacity(): void;
  /**
   * Verifies a password. Without a hash (no such account, or no password yet) it takes the same time and returns false.
   * `stale`: the hash has other parameters and should be replaced.
   * @throws AppError busy when too many are waiting
   */
  verify(password: string, hash: string | null): Promise<{ ok: boolean; stale: boolean }>;
  /**
   * Checks a new password.
   * @throws AppError invalid_input with an issue at `password`
   */
  validate(password: string, email: string): Promise<void>;
}

/**
 * @param options.parameters the parameters of scrypt; cheap ones are for tests
 * @param options.waiting maximum number of hashes that wait for their turn
 * @param options.atATime maximum number of hashes at a time
 */
export function openPasswords({
  parameters = OWASP,
  waiting = MAX_WAITING,
  atATime = CONCURRENCY,
}: { parameters?: Parameters; waiting?: number; atATime?: number } = {}): Passwords {
  const inTurn = concurrencyLimiter(
    atATime,
    waiting,
    () =>
      new AppError("busy", "Too many people are signing in at the moment. Try again in 2 s.", {
        headers: { "Retry-After": "2" },
      }),
  );
  const derive = (password: string) => inTurn(() => scrypt.kdf(normalizedPassword(password), parameters));

  return {
    assertCapacity: inTurn.assertCapacity,
    hash: async (password) => Buffer.from(await derive(password)).toString("base64"),

    async verify(password, hash) {
      const used = hash === null ? undefined : parametersOf(hash);
      if (hash === null || used === undefined) {
        await derive(password);
        return { ok: false, stale: false };
      }
      const ok = await inTurn(() => scrypt.verify(hash, normalizedPassword(password)));
      const { logN, r, p } = parameters;
      return { ok, stale: used.logN !== logN || used.r !== r || used.p !== p };
    },

    async validate(password, email) {
      const issue =
        passwordIssue(password) ?? (await checkPasswordStrength(normalizedPassword(password), email));
      if (issue !== undefined) throw passwordError(issue);
    },
  };
}

/** The parameters of a hash; undefined for anything that is not a hash of scrypt-kdf, which never verifies. */
function parametersOf(hash: string): Parameters | undefined {
  try {
    return scrypt.viewParams(hash);
  } catch {
    return undefined;
  }
}

const passwordError = (issue: Omit<Issue, "path">): AppError =>
  new AppError("invalid_input", `The password ${issue.message}. ${issue.fix ?? ""}`.trim(), {
    errors: [{ path: "password", ...issue }],
  });
