/** How strong a password is, by the library that the server asks too; the dictionaries come with it. */
import { ZxcvbnFactory } from "@zxcvbn-ts/core";
import { adjacencyGraphs, dictionary } from "@zxcvbn-ts/language-common";

/** Its time grows faster than the text: what follows makes a password no weaker. */
const JUDGED = 100;

const zxcvbn = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });

/** @returns a score from 0 (guessed at once) to 4 */
export function passwordStrength(password: string, email: string): number {
  const own = [email, ...email.split(/[@.]/), "millrace"].filter((part) => part.length >= 3);
  return zxcvbn.check(password.slice(0, JUDGED), own).score;
}
