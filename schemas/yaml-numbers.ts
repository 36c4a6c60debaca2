/** Numbers as YAML 1.2 writes them (core schema): also with a sign, in other bases, with zeros before them. */
import { readNumber } from "./long-numbers.ts";

/** @returns the number or the long number; undefined for what is no number, and for one that is too long */
export function readYamlNumber(source: string): number | string | undefined {
  const digits = source.replace(/^\+/, "");
  if (/^0[xo][\da-f]+$/i.test(digits)) return readNumber(String(BigInt(digits)));
  // There may be zeros before it, and no digit on one side of the point.
  const [, sign = "", rest = ""] = /^(-?)0*(.*)$/s.exec(digits) ?? [];
  const whole = /^\d/.test(rest) ? rest : `0${rest}`;
  return readNumber(sign + whole.replace(/\.(?=$|e)/i, ""));
}
