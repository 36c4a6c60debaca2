/** Estimates how easily a password can be guessed. */
import type { Issue } from "../../schemas/problem.ts";
import { lazy } from "../core/lazy.ts";

/** Number of characters that are examined: the time grows faster than the length, and a strong password is strong by then. */
const MAX_EXAMINED_LENGTH = 50;
/**
 * Minimum number of guesses: zxcvbn's score 3, which an online attacker never reaches, and one who has the hashes only at
 * great cost. Eight random characters have this score. With a word or a pattern the minimum is ten times as high, because
 * any three parts have this score too, and attackers try passwords like `Summer2026!!` on all accounts.
 */
const MIN_GUESSES = 1e8;
const MIN_GUESSES_WITH_PATTERN = 1e9;
/** Minimum length without the parts of the address, in characters. */
const MIN_OWN_LENGTH = 8;

/** The word lists take some megabytes, so they are loaded when the first password is chosen. */
const estimator = lazy(async () => {
  const [{ ZxcvbnFactory }, { dictionary, adjacencyGraphs }] = await Promise.all([
    import("@zxcvbn-ts/core"),
    import("@zxcvbn-ts/language-common"),
  ]);
  return new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs, maxLength: MAX_EXAMINED_LENGTH });
});

/**
 * Estimates how many guesses a password takes. A list would not do: `Password2026!` is in none, and is still tried early.
 * @param email address of the user, whose parts are guessed first
 * @returns the issue of a weak password, or undefined
 */
export async function checkPasswordStrength(
  password: string,
  email: string,
): Promise<Omit<Issue, "path"> | undefined> {
  const own = ownWords(email);
  if (withoutWords(password.toLowerCase(), own).length < MIN_OWN_LENGTH)
    return {
      code: "like_address",
      message: "consists mostly of the e-mail address or the name of this service",
      fix: "Choose a password that is not related to them.",
    };
  const { guesses, sequence } = (await estimator()).check(password, own);
  const random = sequence.every(({ pattern }) => pattern === "bruteforce");
  if (guesses >= (random ? MIN_GUESSES : MIN_GUESSES_WITH_PATTERN)) return undefined;
  return {
    code: "too_common",
    message: "is easy to guess",
    fix: "Use several unrelated words, or let a password manager generate one.",
  };
}

/** Removes `words` from a text, the longest first. */
const withoutWords = (text: string, words: readonly string[]): string =>
  words.toSorted((a, b) => b.length - a.length).reduce((left, word) => left.replaceAll(word, ""), text);

/** The address and its parts, without the top-level domain, and the name of the product. */
function ownWords(email: string): string[] {
  const [name = "", domain = ""] = email.toLowerCase().split("@");
  const parts = [
    email.toLowerCase(),
    name,
    domain,
    ...name.split(/[^\p{L}\p{N}]+/u),
    ...domain.split(".").slice(0, -1),
  ];
  return [...new Set([...parts, "millrace"])].filter((word) => word.length >= 3);
}
