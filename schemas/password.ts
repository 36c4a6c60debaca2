/** What a new password must be. Without zod: the browser says the same while one types. */

const LEAST = 12;
const LEAST_MIXED = 8;
const MOST = 256;
const MIX = [/\p{Lu}/u, /\p{Ll}/u, /\p{N}/u, /[\p{P}\p{S}]/u];

export const PASSWORD_RULE = `At least ${LEAST} characters, or at least ${LEAST_MIXED} with upper case, lower case, a number and a symbol.`;

/** A password as it is counted and hashed: however a keyboard composed its letters (NIST SP 800-63B, 5.1.1.2). */
export const normalizedPassword = (password: string): string => password.normalize("NFKC");

/**
 * What is wrong with a new password, in code points of its normal form; undefined for nothing. Whether it is a common
 * one is not asked here: the server does.
 */
export function passwordIssue(password: string): { code: string; message: string; fix?: string } | undefined {
  // The cheap bound first: nobody has a megabyte normalized. A letter and its accents seldom are more than four units.
  if (password.length > MOST * 4) return tooLong;
  // HMAC, which scrypt begins with, fills its key up with NULs: one with some at its end is the same as without.
  if (!password.isWellFormed() || password.includes("\0"))
    return {
      code: "invalid_text",
      message: "must not hold NUL or half a surrogate pair",
      fix: "Type it again, by hand.",
    };
  const characters = Array.from(normalizedPassword(password));
  if (characters.length > MOST) return tooLong;
  if (characters.length >= LEAST) return undefined;
  if (characters.length < LEAST_MIXED)
    return { code: "too_short", message: `has fewer than ${LEAST_MIXED} characters`, fix: PASSWORD_RULE };
  const mixed = MIX.every((kind) => characters.some((it) => kind.test(it)));
  return mixed
    ? undefined
    : { code: "too_simple", message: "is short, and does not hold all four kinds", fix: PASSWORD_RULE };
}

const tooLong = {
  code: "too_long",
  message: `is longer than ${MOST} characters`,
  fix: "Choose a shorter one.",
};
