/** The rules for a new password. Without zod, because the browser checks the same rules while the user types. */

const MIN_LENGTH = 12;
const MIN_MIXED_LENGTH = 8;
const MAX_LENGTH = 256;
const CHARACTER_KINDS = [/\p{Lu}/u, /\p{Ll}/u, /\p{N}/u, /[\p{P}\p{S}]/u];

export const PASSWORD_RULE = `At least ${MIN_LENGTH} characters, or at least ${MIN_MIXED_LENGTH} with upper case, lower case, a number and a symbol.`;

/** The form that is measured and hashed, so that it does not matter how a keyboard composes letters (NIST SP 800-63B, 5.1.1.2). */
export const normalizedPassword = (password: string): string => password.normalize("NFKC");

/**
 * Finds what is wrong with a new password; lengths are in code points of its normal form. Only the server checks
 * whether it is a common one.
 * @returns undefined for a valid password
 */
export function passwordIssue(password: string): { code: string; message: string; fix?: string } | undefined {
  // Normalizing a megabyte would be slow. A letter with its accents rarely takes more than four UTF-16 units.
  if (password.length > MAX_LENGTH * 4) return tooLong;
  // HMAC, the first step of scrypt, pads its key with NULs: a password would equal itself with NULs appended.
  if (!password.isWellFormed() || password.includes("\0"))
    return {
      code: "invalid_text",
      message: "must not contain NUL or half a surrogate pair",
      fix: "Type the password by hand.",
    };
  const characters = Array.from(normalizedPassword(password));
  if (characters.length > MAX_LENGTH) return tooLong;
  if (characters.length >= MIN_LENGTH) return undefined;
  if (characters.length < MIN_MIXED_LENGTH)
    return {
      code: "too_short",
      message: `has fewer than ${MIN_MIXED_LENGTH} characters`,
      fix: PASSWORD_RULE,
    };
  const mixed = CHARACTER_KINDS.every((kind) => characters.some((character) => kind.test(character)));
  return mixed
    ? undefined
    : {
        code: "too_simple",
        message: `has fewer than ${MIN_LENGTH} characters and not all four kinds of characters`,
        fix: PASSWORD_RULE,
      };
}

const tooLong = {
  code: "too_long",
  message: `is longer than ${MAX_LENGTH} characters`,
  fix: "Choose a shorter password.",
};
