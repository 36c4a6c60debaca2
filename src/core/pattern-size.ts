/** How large a regular expression of RE2 becomes, before it is made. */

// An open class goes on to the end: to look for its bracket again and again would take the square of the length.
const TOKEN = /\\.|\[(?:\\.|[^\]\\])*\]?|\{(\d+)(?:,(\d*))?\}|./gsu;

/** About how many instructions a pattern makes, without making them: counted repeats of groups multiply. */
export function estimatePatternSize(source: string): number {
  const groups = [0];
  let last = 0;
  const add = (size: number): void => {
    groups.push(groups.pop()! + size);
  };
  for (const [token, least, most] of source.matchAll(TOKEN)) {
    if (token === "(") {
      groups.push(0);
    } else if (token === ")" && groups.length > 1) {
      last = groups.pop()!;
      add(last);
    } else if (least === undefined) {
      last = 1;
      add(last);
    } else {
      const times = Math.max(Number(least), Number(most ?? 0));
      add(last * Math.max(0, times - 1));
      last *= times;
    }
  }
  return groups.reduce((sum, size) => sum + size, 0);
}
