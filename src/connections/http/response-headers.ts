/** The headers of a response: as they arrive, and as steps get them. */
import type { ResponseHeaders } from "../../core/connections.ts";
import { headerText, joinHeaderValues } from "../../core/header-text.ts";
import type { Masker } from "../masking.ts";

/** Names in lower case. Each value has one character for each byte. */
export type RawHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The headers for steps: `set-cookie` is a list, because its values can't be joined; secrets are masked. */
export function responseHeaders(raw: RawHeaders, mask: Masker): ResponseHeaders {
  const shown = (value: string): string => mask.text(headerText(value));
  return Object.fromEntries(
    Object.entries(raw).map(([name, value]) => [
      mask.text(name),
      name === "set-cookie" ? [value ?? []].flat().map(shown) : shown(joinHeaderValues(value)),
    ]),
  );
}
