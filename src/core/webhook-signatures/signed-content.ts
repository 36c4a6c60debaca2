/** What a signature is over, as the definition writes it: texts, and the names of parts of the request in braces. */

/** The parts of a request that a signature can be over. */
const PARTS = ["body", "timestamp", "id", "url", "form"] as const;
export type RequestPart = (typeof PARTS)[number];

interface ContentPart {
  kind: RequestPart | "literal";
  text: string;
}

/** What is signed where the definition says nothing else. */
export const SIGNED_BODY = "{body}";

const isPart = (name: string): name is RequestPart => (PARTS as readonly string[]).includes(name);

/** @param signs such as `v0:{timestamp}:{body}`. Other names in braces are texts; the checker reports them. */
export function partsOf(signs: string): ContentPart[] {
  return signs.split(/(\{[a-z]+\})/).flatMap((text): ContentPart[] => {
    const name = text.slice(1, -1);
    if (text.startsWith("{") && isPart(name)) return [{ kind: name, text }];
    return text === "" ? [] : [{ kind: "literal", text }];
  });
}

/** Whether a signature is over a part of the request. */
export const isOver = (part: RequestPart, { signs = SIGNED_BODY }: { signs?: string | undefined }): boolean =>
  partsOf(signs).some(({ kind }) => kind === part);

/** What is in braces and no part of a request. */
export const unknownParts = (signs: string): string[] =>
  [...signs.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name!).filter((name) => !isPart(name));

export const PART_NAMES: readonly string[] = PARTS.map((part) => `{${part}}`);
