/** Random cron expressions for tests: about one in fifteen is valid, and the others are nearly so. */

const PIECES = (
  "* ? 0 1 5 6 7 8 12 13 23 24 31 32 59 60 - - / / /2 , , L W LW l 15W # #2 #L #6 + MON FRI SUN -SUN sat JAN feb MONDAY " +
  "1-5 */2 2-10/3 */40 5-1 FRI-MON 5/2 x . : @"
).split(" ");

/** Returns expressions of which mostly one field is not `*`. */
export function cronPatterns(random: () => number): () => string {
  const pick = (count: number): number => Math.floor(random() * count);
  const field = (): string =>
    Array.from({ length: random() < 0.6 ? 1 : 1 + pick(4) }, () => PIECES[pick(PIECES.length)]!).join("");
  return () => {
    if (random() < 0.2) return `0 8 ${field()} * ${random() < 0.5 ? "+" : ""}${field()}`;
    const count = random() < 0.97 ? 5 + Number(random() < 0.1) : 4 + pick(4);
    const changed = pick(count);
    return Array.from({ length: count }, (_, index) =>
      index === changed || random() < 0.25 ? field() : "*",
    ).join(" ");
  };
}
