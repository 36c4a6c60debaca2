/** Whether a password is one of those that are tried first. */
import type { Issue } from "../../schemas/problem.ts";
import { lazy } from "../core/lazy.ts";

/** Working a password out takes more than linear time, and the strong part of a strong one fits in here. */
const LOOKED_AT = 50;
/**
 * Where zxcvbn's score 3 begins: what a throttled guesser never reaches, and one with the hashes only at great cost.
 * Eight random characters are rated at just that. Where a word or a pattern was found it takes ten times as many,
 * because three parts of any kind are rated at that too, and `Summer2026!!` is what is sprayed over all accounts.
 */
const FEWEST_GUESSES = 1e8;
const FEWEST_WITH_PATTERN = 1e9;
/** So many characters must be left without the parts of the address. */
const LEFT = 8;

/** The lists are some megabytes: they are loaded when the first password is chosen. */
const estimator = lazy(async () => {
  const [{ ZxcvbnFactory }, { dictionary, adjacencyGraphs }] = await Promise.all([
    import("@zxcvbn-ts/core"),
    import("@zxcvbn-ts/language-common"),
  ]);
  return new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs, maxLength: LOOKED_AT });
});

/**
 * Why a password is guessed easily, or undefined. Judged by how many guesses it takes, not by looking it up in a list:
 * `Password2026!` stands in none and is tried early all the same.
 * @param email of whose it is: what is in the address is guessed first
 */
export async function checkPasswordStrength(
  password: string,
  email: string,
): Promise<Omit<Issue, "path"> | undefined> {
  const own = ownWords(email);
  if (withoutWords(password.toLowerCase(), own).length < LEFT)
    return {
      code: "like_address",
      message: "is made from the e-mail address or the name of this service",
      fix: "Choose one that has nothing to do with them.",
    };
  const { guesses, sequence } = (await estimator()).check(password, own);
  const random = sequence.every(({ pattern }) => pattern === "bruteforce");
  if (guesses >= (random ? FEWEST_GUESSES : FEWEST_WITH_PATTERN)) return undefined;
  return {
    code: "too_common",
    message: "is among those that are guessed first",
    fix: "Use several words that don't belong together, or let a password manager make one.",
  };
}

/** What is left when `words` are taken out, the longest first. */
const withoutWords = (text: string, words: readonly string[]): string =>
  words.toSorted((a, b) => b.length - a.length).reduce((left, word) => left.replaceAll(word, ""), text);

/** The address and its parts, but for the top-level domain, and the name of the product. */
function ownWords(email: string): string[] {
  const [name = "", domain = ""] = email.toLowerCase().split("@");
  const parts = [
    email.toLowerCase(),
    name,
    domain,
    ...name.split(/[^\p{L}\p{N}]+/u),
    ...domain.split(".").slice(0, -1),
  ];
  return [...new Set([...parts, "millrace"])].filter((it) => it.length >= 3);
}
