/** What functions take and give, in short. */
import { ANY, BOOLEAN, NUMBER, STRING } from "../../core/shapes.ts";
import type { Param } from "./functions.ts";
import type { Type } from "./typing.ts";

export const anything: Param = {};
export const text: Param = { kinds: ["string"] };
export const number: Param = { kinds: ["number"] };
export const list: Param = { kinds: ["list"] };
export const map: Param = { kinds: ["map"] };
export const numbers: Param = { kinds: ["list"], items: ["number"] };

export const givesText = (): Type => STRING;
export const givesNumber = (): Type => NUMBER;
export const givesBoolean = (): Type => BOOLEAN;
export const givesAnything = (): Type => ANY;
export const givesTexts = (): Type => ({ kind: "list", of: STRING });
/** The same as the first argument, which is not null. */
export const givesFirst = ([first]: readonly Type[]): Type => ({ ...first!, nullable: false });
