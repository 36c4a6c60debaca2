/** Plays random sequences of requests, compares each answer with what the model says, and shortens a sequence that fails. */
import { seededRandom } from "../random.ts";
import { type Company, type Installation, openCompany } from "./company.ts";
import type { Actor, Surface } from "./made.ts";
import { isOnMcp } from "./surfaces.ts";
import { may } from "./conditions.ts";
import { chooseRequest } from "./operations.ts";
import type { Pick, Request } from "./request.ts";

/** Number of requests of a sequence: things of one are never seen by another. */
const LENGTH = 150;
/** How often a request is chosen again that is about nothing that exists. */
const MAX_ATTEMPTS = 8;
/** Maximum number of sequences that are tried to shorten one. */
const MAX_SHORTENED = 80;

interface Mismatch {
  /** The requests up to the one whose answer differs. */
  trail: string[];
  problem: string;
}

interface Played {
  steps: number;
  mismatch: Mismatch | undefined;
  /** How often each answer to each operation was given. */
  answers: Map<string, number>;
}

const pickWith = (random: () => number): Pick => {
  const number = (below: number): number => Math.floor(random() * below);
  return {
    number,
    one: (values) => values[number(values.length)],
    some: (values) => values.filter(() => random() < 0.5),
    chance: (probability) => random() < probability,
  };
};

/**
 * Half of the requests are accepted, or nothing would ever happen. Each reason of an answer is as frequent as any other, so that
 * many callers are refused by one rule alone.
 */
function chooseActor(company: Company, { operation, actors, expected, aspect }: Request, pick: Pick): Actor {
  const able = (actors ?? company.actors).filter(({ surface }) => surface !== "mcp" || isOnMcp(operation));
  const byReason = Map.groupBy(able, (actor) =>
    [expected(actor), may(company, actor, operation), aspect?.(actor)].join(" "),
  );
  const isAccepted = pick.chance(0.5);
  const wanted = [...byReason].filter(([reason]) => reason.startsWith("ok ") === isAccepted);
  return pick.one(pick.one(wanted.length > 0 ? wanted : [...byReason])![1])!;
}

/** Many operations are about what an earlier request has to make first. */
async function chooseSome(company: Company, pick: Pick): Promise<Request | undefined> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const request = await chooseRequest(company, pick);
    if (request !== undefined) return request;
  }
  return undefined;
}

/** @param seeds one number for each request: what it chooses depends on it, and on what the ones before have made */
async function play(installation: Installation, number: number, seeds: readonly number[]): Promise<Played> {
  const company = await openCompany(installation, number);
  const trail: string[] = [];
  const answers = new Map<string, number>();
  for (const [index, seed] of seeds.entries()) {
    const pick = pickWith(seededRandom(seed));
    const request = await chooseSome(company, pick);
    if (request === undefined) continue;
    const { operation, input, expected } = request;
    const actor = chooseActor(company, request, pick);
    const surface: Surface =
      actor.surface ?? (actor.kind === "key" && isOnMcp(operation) && pick.chance(0.5) ? "mcp" : "rest");
    const wanted = expected(actor);
    const { answer, output } = await (request.send?.() ?? company.send(actor, surface, operation, input));
    installation.clock.advance(1);
    const who = request.send === undefined ? `${actor.label} over ${surface}` : "a sender";
    trail.push(`${index}. ${who}: ${operation} ${JSON.stringify(input)}: ${answer}`);
    answers.set(`${operation} ${answer}`, (answers.get(`${operation} ${answer}`) ?? 0) + 1);
    const problem = wanted.split("|").includes(answer)
      ? answer === "ok"
        ? await request.check?.(actor, output)
        : undefined
      : `expected ${wanted}, got ${answer}: ${JSON.stringify(output)?.slice(0, 1_000)}`;
    if (problem !== undefined) return { steps: trail.length, mismatch: { trail, problem }, answers };
    if (answer === "ok") await request.after?.(actor, output);
  }
  return { steps: trail.length, mismatch: undefined, answers };
}

/**
 * Plays sequences until this many requests were sent.
 * @returns the shortest failing sequence that was found, or undefined; and how often each answer was given
 */
export async function playRights(installation: Installation, seed: number, steps: number): Promise<Played> {
  const random = seededRandom(seed);
  const answers = new Map<string, number>();
  let [played, number] = [0, 0];
  while (played < steps) {
    const seeds = Array.from({ length: LENGTH }, () => Math.floor(random() * 2 ** 32));
    const result = await play(installation, (number += 1), seeds);
    played += result.steps;
    for (const [answer, count] of result.answers) answers.set(answer, (answers.get(answer) ?? 0) + count);
    if (result.mismatch === undefined) continue;
    return { steps: played, mismatch: await shorten(installation, number, seeds, result), answers };
  }
  return { steps: played, mismatch: undefined, answers };
}

/** Leaves out requests, many at a time and then fewer, as long as an answer still differs from the model. */
async function shorten(
  installation: Installation,
  number: number,
  seeds: readonly number[],
  found: Played,
): Promise<Mismatch> {
  let [best, mismatch] = [seeds, found.mismatch!];
  let tried = 0;
  for (let size = best.length >> 1; size > 0; size >>= 1)
    for (let at = 0; at < best.length && tried < MAX_SHORTENED;) {
      tried += 1;
      const shorter = best.toSpliced(at, size);
      const result = await play(installation, number + tried, shorter);
      if (result.mismatch === undefined) at += size;
      else [best, mismatch] = [shorter, result.mismatch];
    }
  return mismatch;
}
