/** Rates a password with zxcvbn, the library that the server uses too. The bundle includes its dictionaries. */
import { ZxcvbnFactory } from "@zxcvbn-ts/core";
import { adjacencyGraphs, dictionary } from "@zxcvbn-ts/language-common";

/** Characters that are rated. The run time grows faster than linearly, and more text never makes a password weaker. */
const MAX_RATED_CHARS = 100;

const zxcvbn = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });

/** @returns a score from 0 (very weak) to 4 (strong) */
export function passwordStrength(password: string, email: string): number {
  const personalWords = [email, ...email.split(/[@.]/), "millrace"].filter((part) => part.length >= 3);
  return zxcvbn.check(password.slice(0, MAX_RATED_CHARS), personalWords).score;
}
