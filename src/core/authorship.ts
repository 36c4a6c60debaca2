/**
 * Whose work a version of a workflow is: of those who wrote it or published it since another person last reviewed it. To
 * publish a version is to review it and those before it; other ways to review belong into `reviews` too.
 */
import type { PassedBacktest } from "../../schemas/backtest-rule.ts";
import { COMMAND_LINE, OPERATOR } from "../../schemas/actor.ts";
import { USER_ID_PREFIX } from "./ids.ts";
import { samePerson } from "./mailbox.ts";
import type { Principal } from "./ports.ts";
import { usageSubjectOf } from "./usage-limits.ts";

/** Somebody who wrote or published a version. */
export interface Contributor {
  owner: string;
  keyName: string;
  /** See `usageSubjectOf`; the owner where a key of the operator was not recorded, in the versions of older releases. */
  subject: string;
}

/** Who wrote a version and those before it, and who reviewed them. */
export interface Authorship {
  /** The newest version of each author. Archiving and restoring a workflow changes nothing in it. */
  authors: (Contributor & { version: number })[];
  /** The last review of each version by each person, in the order of time. */
  reviews: (Contributor & {
    version: number;
    order: number;
    /** The publisher's lineage (`Principal`); null where an older release did not record it. */
    lineage: string | null;
  })[];
}

/** A version that is about to be published. */
export interface Published {
  id: string;
  version: number;
  /** The backtest that it passed; null or left out where none was needed. */
  backtest?: PassedBacktest | null;
}

/** What was live of a workflow. */
export interface Publications {
  /** The versions that were published at some time, as far as this is on record: an import knows only the last one. */
  versions: ReadonlySet<number>;
  /** The version that is published, or was last; null for none. */
  last: number | null;
}

/** How somebody contributed to a version without a later review by another person. */
export type Contribution = { kind: "wrote" | "published"; version: number };

type Person = Pick<Principal, "owner" | "keyName" | "lineage">;

/** Whether a contributor may be this person: with any key or session, under any tag of the address, but for each key of the operator separately. */
export const isContributor = (person: Person, { owner, keyName, subject }: Contributor): boolean =>
  subject === OPERATOR || subject === ""
    ? samePerson(owner, person.owner) && (owner !== OPERATOR || keyName === person.keyName)
    : samePerson(subject, usageSubjectOf(person));

/** Finds what a person contributed to a version that nobody else has reviewed since; undefined for nothing. */
export function unreviewedContribution(
  person: Person,
  version: number,
  { authors, reviews }: Authorship,
): Contribution | undefined {
  const own = reviews.filter((review) => isContributor(person, review));
  const others = reviews.filter((review) => !own.includes(review));
  const reviewed = Math.max(0, ...others.map((review) => review.version));
  const written = authors.find((author) => author.version > reviewed && isContributor(person, author));
  if (written !== undefined) return { kind: "wrote", version: written.version };
  const published = own.findLast((review) => review.version === version);
  const isReviewed =
    published === undefined ||
    others.some((review) => review.version === version && review.order > published.order);
  return isReviewed ? undefined : { kind: "published", version };
}

/** Whether a publication was made by a signed-in person or at the command line, not by a key. */
const isPersonal = ({ lineage }: { lineage: string | null }): boolean =>
  lineage === COMMAND_LINE || lineage?.startsWith(USER_ID_PREFIX) === true;

/**
 * Finds the newest version that a person wrote after what is published, and after what somebody else has published
 * themselves, up to a version. Unlike for an approval, the publication by a key counts as nobody's review.
 * @param published the published version; null for none
 */
export function unreviewedVersion(
  person: Person,
  version: number,
  published: number | null,
  { authors, reviews }: Authorship,
): number | undefined {
  const seen = reviews.filter((review) => isPersonal(review) && !isContributor(person, review));
  const live = published !== null && published <= version ? published : 0;
  const reviewed = Math.max(live, ...seen.map((review) => review.version));
  return authors.find((author) => author.version > reviewed && isContributor(person, author))?.version;
}
