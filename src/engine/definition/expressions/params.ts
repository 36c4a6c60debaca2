/** Parameters and result types that many functions share. */
import { ANY, BOOLEAN, NUMBER, STRING } from "../../../core/shapes.ts";
import type { Param } from "./functions.ts";
import { notNull, type Type } from "./typing.ts";

export const anything: Param = {};
export const text: Param = { kinds: ["string"] };
export const number: Param = { kinds: ["number"] };
export const list: Param = { kinds: ["list"] };
export const map: Param = { kinds: ["map"] };
export const numbers: Param = { kinds: ["list"], items: ["number"] };

export const returnsText = (): Type => STRING;
export const returnsNumber = (): Type => NUMBER;
export const returnsBoolean = (): Type => BOOLEAN;
export const returnsAny = (): Type => ANY;
export const returnsTextList = (): Type => ({ kind: "list", of: STRING });
/** The type of the first argument, which is not null when the function runs. */
export const returnsFirstArgumentType = ([first]: readonly Type[]): Type => notNull(first!);
