// An unclosed character class extends to the end: searching for its bracket repeatedly would take quadratic time.
const TOKEN = /\\.|\[(?:\\.|[^\]\\])*\]?|\{(\d+)(?:,(\d*))?\}|./gsu;

/** Estimates how many instructions RE2 compiles a pattern to, without compiling it: counted repetitions of groups multiply. */
export function estimatePatternSize(source: string): number {
  const groups = [0];
  let last = 0;
  const add = (size: number): void => {
    groups.push(groups.pop()! + size);
  };
  for (const [token, min, max] of source.matchAll(TOKEN)) {
    if (token === "(") {
      groups.push(0);
    } else if (token === ")" && groups.length > 1) {
      last = groups.pop()!;
      add(last);
    } else if (min === undefined) {
      last = 1;
      add(last);
    } else {
      const times = Math.max(Number(min), Number(max ?? 0));
      add(last * Math.max(0, times - 1));
      last *= times;
    }
  }
  return groups.reduce((sum, size) => sum + size, 0);
}
