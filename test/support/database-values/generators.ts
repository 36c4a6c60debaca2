/** Random values of databases, as texts that the databases read. */

type Random = () => number;
/** Draws the text of a value. */
export type Generator = (random: Random) => string;

const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
const below = (random: Random, count: number): number => Math.floor(random() * count);
const two = (value: number): string => String(value).padStart(2, "0");

const digits = (random: Random, count: number): string =>
  Array.from({ length: count }, () => below(random, 10)).join("");

/** Values of these with some probability, which is where programs go wrong. */
const oneOf =
  (rare: readonly string[], other: Generator, probability = 0.3): Generator =>
  (random) =>
    random() < probability ? pick(random, rare) : other(random);

/** Integers of so many bits: the bounds, those of doubles, and any. */
export function integers(bits: number, signed = true): Generator {
  const [min, max] = signed
    ? [-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1) - 1n]
    : [0n, 2n ** BigInt(bits) - 1n];
  const safe = 2n ** 53n;
  const rare = [
    0n,
    1n,
    -1n,
    min,
    min + 1n,
    max,
    max - 1n,
    safe,
    safe + 1n,
    safe - 1n,
    -safe,
    -safe - 1n,
  ].filter((value) => value >= min && value <= max);
  return oneOf(rare.map(String), (random) => {
    const size = 1 + below(random, bits);
    const value = BigInt(
      `0x${Array.from({ length: Math.ceil(bits / 4) }, () => below(random, 16).toString(16)).join("")}`,
    );
    const cut = value % 2n ** BigInt(size);
    const signedValue = signed && random() < 0.5 ? -cut : cut;
    return String(signedValue < min ? min : signedValue > max ? max : signedValue);
  });
}

/** Decimals with up to so many digits, and so many after the point. */
export const decimals =
  (precision: number, scale: number): Generator =>
  (random) => {
    // Two in five have all digits that fit.
    const isFull = random() < 0.4;
    const count = (max: number): number => (isFull ? max : below(random, max + 1));
    const whole = digits(random, count(precision - scale)).replace(/^0+/, "") || "0";
    const fraction = digits(random, count(scale));
    return `${random() < 0.3 ? "-" : ""}${whole}${fraction === "" ? "" : `.${fraction}`}`;
  };

const SINGLES = [
  "0.1",
  "0.2",
  "1.1",
  "3.4028234e38",
  "1.17549435e-38",
  "16777217",
  "-0.3",
  "123456.79",
  "1e10",
];
export const singles: Generator = oneOf(SINGLES, (random) =>
  String(Math.fround((random() - 0.5) * 10 ** (below(random, 60) - 30))),
);

const DOUBLES = [
  "0.1",
  "0.30000000000000004",
  "9007199254740993",
  "1e21",
  "1.7976931348623157e308",
  "2.2250738585072014e-308",
];
export const doubles: Generator = oneOf(DOUBLES, (random) =>
  String((random() - 0.5) * 10 ** (below(random, 40) - 20)),
);

/** What JSON has no form for. */
export const orNotFinite = (generator: Generator): Generator =>
  oneOf(["NaN", "Infinity", "-Infinity"], generator, 0.05);

const ALPHABETS = [
  [0x20, 0x7e],
  [0xa0, 0x24f],
  [0x300, 0x36f],
  [0x590, 0x6ff],
  [0x900, 0xdff],
  [0x1e00, 0x20ff],
  [0x3040, 0x9fff],
  [0xe000, 0xfffd],
  [0x1_f300, 0x1_faff],
  [0x2_0000, 0x2_a6df],
] as const;
const TEXTS = [
  "",
  " ",
  "'",
  '"',
  "\\",
  "\\n",
  "''",
  "null",
  "NULL",
  "true",
  "0",
  "007",
  "1e5",
  "9007199254740993",
  "0.1000000000000000055",
  "a\tb",
  "a\nb",
  "a\r\nb",
  "${{ x }}",
  "$1",
  ":v",
  "?",
  "%s",
  "<b>&amp;</b>",
  "\u{FEFF}x",
  "e\u0301",
  "\u00e9",
  "\u202e",
  "🏳️‍🌈",
];
export const texts = (max: number): Generator =>
  oneOf(
    TEXTS.filter((text) => Array.from(text).length <= max),
    (random) =>
      Array.from({ length: below(random, Math.min(max, 40) + 1) }, () => {
        const [from, to] = pick(random, ALPHABETS);
        return String.fromCodePoint(from + below(random, to - from + 1));
      }).join(""),
  );

/** Bytes, as hexadecimal digits. */
export const bytes =
  (max: number): Generator =>
  (random) =>
    Array.from({ length: below(random, max + 1) }, () =>
      below(random, 256).toString(16).padStart(2, "0"),
    ).join("");

const year = (random: Random, [from, to]: readonly [number, number]): number =>
  from + below(random, to - from + 1);

export const dates =
  (years: readonly [number, number] = [1, 9999]): Generator =>
  (random) =>
    `${String(year(random, years)).padStart(4, "0")}-${two(1 + below(random, 12))}-${two(1 + below(random, 28))}`;

/** Times of day with so many digits of the second. */
export const times =
  (fraction: number): Generator =>
  (random) =>
    `${two(below(random, 24))}:${two(below(random, 60))}:${two(below(random, 60))}${
      fraction === 0 || random() < 0.2 ? "" : `.${digits(random, fraction)}`
    }`;

export const timestamps =
  (fraction: number, years: readonly [number, number] = [1, 9999]): Generator =>
  (random) =>
    // Half of them near 1970, where the sign changes.
    `${dates(random() < 0.5 ? [Math.max(1960, years[0]), Math.min(1980, years[1])] : years)(random)} ${times(fraction)(random)}`;

export const zoned =
  (inner: Generator): Generator =>
  (random) =>
    `${inner(random)}${pick(random, ["+00", "+05:30", "-09:30", "+14", "-12"])}`;

export const booleans: Generator = (random) => pick(random, ["true", "false"]);
export const words =
  (...list: string[]): Generator =>
  (random) =>
    pick(random, list);

export const uuids: Generator = (random) => {
  const hex = Array.from({ length: 32 }, () => below(random, 16).toString(16)).join("");
  // Version 4 and its variant, which MariaDB insists on.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
};

export const intervals: Generator = (random) =>
  `${below(random, 30)} years ${below(random, 12)} months ${below(random, 40)} days ${times(6)(random)}`;

/** JSON with numbers that a double can't hold, texts that look like them, and nesting. */
export function json(depth = 2): Generator {
  const numbers = oneOf(["1533947986218845197", "0.1000000000000000055", "1e3", "-0.5"], integers(64));
  return (random) => {
    const kind = below(random, depth === 0 ? 4 : 6);
    if (kind === 0) return numbers(random);
    if (kind === 1) return JSON.stringify(texts(20)(random));
    if (kind === 2) return pick(random, ["true", "false", "null"]);
    if (kind === 3) return doubles(random).replace("+", "");
    const inner = Array.from({ length: below(random, 4) }, () => json(depth - 1)(random));
    return kind === 4
      ? `[${inner.join(", ")}]`
      : `{${inner.map((value, index) => `${JSON.stringify(`k${index}`)}: ${value}`).join(", ")}}`;
  };
}

/** Lists of up to four values, as an array literal or a JSON text. */
export const lists =
  (inner: Generator): ((random: Random) => string[]) =>
  (random) =>
    Array.from({ length: below(random, 5) }, () => inner(random));

export const addresses: Generator = (random) =>
  random() < 0.5
    ? Array.from({ length: 4 }, () => below(random, 256)).join(".")
    : Array.from({ length: 8 }, () => below(random, 65_536).toString(16)).join(":");
