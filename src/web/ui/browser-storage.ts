/** Values that this browser keeps. A browser that keeps nothing returns undefined. */

/** @returns the parsed value; undefined for none, and for one that is not JSON */
export function readStored(key: string): unknown {
  try {
    const text = localStorage.getItem(key);
    return text === null ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}

export function store(key: string, value: unknown): void {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // Full, or not allowed: the value holds until the page is closed.
  }
}
