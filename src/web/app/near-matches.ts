/** What was probably meant by an address that leads to nothing. */
import { send } from "../api/client.ts";

/** Maximum number of workflows that are suggested. */
const MAX_MATCHES = 5;
/** Maximum number of words and characters to search for, see GET /workflows. */
const MAX_WORDS = 8;
const MAX_CHARS = 100;

/** The words of the last part of a path, or of an id: `/workflows/weekly-revenu` gives weekly and revenu. */
export function searchWordsOf(path: string): string[] {
  const last = path.split("/").findLast(Boolean) ?? "";
  const words = last
    .slice(0, MAX_CHARS)
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
  return [...new Set(words)].slice(0, MAX_WORDS);
}

/** The beginning of a word, which a misspelt end does not change. */
const stemOf = (word: string): string => word.slice(0, Math.max(3, word.length - 2));

/** The searches to try, one after the other, until one finds something. */
export function searchesOf(words: readonly string[]): string[] {
  const longest = words.toSorted((a, b) => b.length - a.length)[0];
  const searches = [words.join(" "), words.map(stemOf).join(" "), ...(longest ? [stemOf(longest)] : [])];
  return [...new Set(searches)].filter((search) => search.length > 1);
}

export async function findNearMatches(words: readonly string[], signal: AbortSignal) {
  for (const search of searchesOf(words)) {
    const { data } = await send("get", "/workflows", {
      query: { search, limit: MAX_MATCHES, sort: "-updated_at" },
      signal,
    });
    if (data.length > 0) return data;
  }
  return [];
}
