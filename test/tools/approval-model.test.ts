/** Random sequences of what people and time do with an approval, compared with a model of a few lines. */
import { expect, it } from "vitest";
import { planDigest } from "../../src/core/approval-rules.ts";
import { DAY, HOUR, iso, MINUTE } from "../../src/core/clock.ts";
import { AppError } from "../../src/core/errors.ts";
import type { Principal } from "../../src/core/ports.ts";
import { endAbsence } from "../../tools/absences/end-absence.ts";
import { setAbsence } from "../../tools/absences/set-absence.ts";
import { decideApproval } from "../../tools/approvals/decide-approval.ts";
import { delegateApproval } from "../../tools/approvals/delegate-approval.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import { fakeClock, testInstance } from "../support/instance.ts";
import { caseCount, seededRandom, testSeed } from "../support/random.ts";
import { callAs, keyPrincipal, signedInUser } from "../support/users.ts";

const SEQUENCES = caseCount(25, 400);
const STEPS = 14;
const PEOPLE = ["ann", "ben", "cai", "dan", "eve"] as const;
type Name = (typeof PEOPLE)[number];
/** Ann is an admin, the others editors. Ben, Cai and, from an hour on, Eve are assigned. */
const ADMIN: Name = "ann";
const ESCALATES_AFTER = HOUR;
const TIMEOUT = 5 * HOUR;

/** What should happen, said again in the simplest way. */
class Model {
  places: { of: Name; holder: Name }[] = [
    { of: "ben", holder: "ben" },
    { of: "cai", holder: "cai" },
  ];
  votes: { plan: number; by: Name; place: Name; approved: boolean }[] = [];
  plan = 0;
  elapsed = 0;
  status = "pending";
  away = new Map<Name, Name>();
  readonly rules: { required: number; declines: number };
  constructor(rules: Model["rules"]) {
    this.rules = rules;
  }

  get counted() {
    return this.votes.filter(({ plan }) => plan === this.plan);
  }

  /** The places that somebody can take, in the order in which they are taken. */
  placesOf(name: Name): Name[] {
    const held = this.places.filter(({ holder }) => holder === name).map(({ of }) => of);
    const own = held.filter((of) => of === name);
    const found = [...own, ...held.filter((of) => of !== name)];
    for (const absent of this.standsInFor(name))
      for (const { of, holder } of this.places) if (holder === absent && !found.includes(of)) found.push(of);
    return found;
  }

  standsInFor(name: Name): Name[] {
    const direct = [...this.away].filter(([, by]) => by === name).map(([absent]) => absent);
    const all = new Set<Name>();
    for (const queue = [...direct]; queue.length > 0;) {
      const absent = queue.pop()!;
      if (absent === name || all.has(absent)) continue;
      all.add(absent);
      queue.push(...[...this.away].filter(([, by]) => by === absent).map(([one]) => one));
    }
    return [...all];
  }

  /** The place that somebody would take, and whether as an override; undefined where they may not. */
  right(name: Name): { place: Name; override: boolean } | undefined {
    if (this.status !== "pending" || this.elapsed >= TIMEOUT) return undefined;
    if (this.counted.some(({ by }) => by === name)) return undefined;
    const places = this.placesOf(name);
    if (places.length === 0) {
      const passedOn = this.places.some(({ of, holder }) => of === name && holder !== name);
      if (name !== ADMIN || passedOn || this.counted.some(({ place }) => place === name)) return undefined;
      return { place: name, override: true };
    }
    const place = places.find((of) => this.counted.every((vote) => vote.place !== of));
    return place === undefined ? undefined : { place, override: false };
  }

  /** @param taken the place that was taken: of those of several absent people, any will do */
  decide(name: Name, approved: boolean, override: boolean, taken: Name | undefined): boolean {
    const right = this.right(name);
    if (right === undefined || (right.override && !override)) return false;
    const isFree = taken !== undefined && this.counted.every((vote) => vote.place !== taken);
    const isForAbsent = !right.override && this.standInOnly(name, right.place);
    const place = isForAbsent && isFree && this.placesOf(name).includes(taken) ? taken : right.place;
    this.votes.push({ plan: this.plan, by: name, place, approved });
    const approvals = this.counted.filter((vote) => vote.approved).length;
    if (this.counted.length - approvals >= this.rules.declines) this.status = "declined";
    else if (approvals >= this.rules.required) this.status = "approved";
    return true;
  }

  delegate(from: Name, to: Name): boolean {
    const right = this.right(from);
    if (right === undefined || right.override || from === to) return false;
    const isHolder = this.places.some(({ holder }) => holder === from);
    // A substitute decides, but passes nothing on.
    if (!isHolder || this.standInOnly(from, right.place)) return false;
    const decides = this.places.some(({ holder }) => holder === to);
    if (decides || this.counted.some(({ by }) => by === to)) return false;
    for (const place of this.places) if (place.holder === from) place.holder = to;
    return true;
  }

  standInOnly(name: Name, place: Name): boolean {
    return this.places.find(({ of }) => of === place)?.holder !== name;
  }

  advance(ms: number): void {
    const before = this.elapsed;
    this.elapsed += ms;
    if (this.status !== "pending") return;
    if (this.elapsed >= TIMEOUT) {
      this.status = "expired";
      return;
    }
    if (
      before < ESCALATES_AFTER &&
      this.elapsed >= ESCALATES_AFTER &&
      this.places.every(({ of }) => of !== "eve")
    )
      this.places.push({ of: "eve", holder: "eve" });
  }
}

const address = (name: Name): string => `${name}@example.com`;

async function world() {
  const clock = fakeClock();
  const instance = await testInstance({ clock });
  const { queue } = await instance.executor();
  const settle = async () => {
    queue.wake();
    await queue.waitUntilIdle();
  };
  const principals = new Map<Name, Principal>();
  for (const name of PEOPLE) {
    const role = name === ADMIN ? "admin" : "editor";
    principals.set(name, (await signedInUser(instance, { email: address(name), role })).principal);
  }
  let plan = 0;
  const { services } = instance;
  const remainingWork: typeof services.engine.remainingWork = () => {
    const levels = [`plan ${plan}`];
    return Promise.resolve({ levels, digest: planDigest(levels), workflows: [], versions: [] });
  };
  const withPlan = { services: { ...services, engine: { ...services.engine, remainingWork } } };
  const author = callAs(instance, { ...keyPrincipal(), lineage: "key_author" });
  return {
    clock,
    settle,
    services,
    as: (name: Name) => callAs(withPlan, principals.get(name)!),
    setPlan: (next: number) => void (plan = next),
    digest: () => planDigest([`plan ${plan}`]),
    async ask(id: number, { required, declines }: Model["rules"]): Promise<string> {
      const { id: workflow } = await author(createWorkflow, {
        name: `Asks ${id}`,
        definition: {
          steps: [
            {
              id: "ask",
              type: "approval",
              message: "Go on?",
              assignees: ["Ben@example.com", "cai@example.com"],
              required,
              required_declines: declines,
              remind: "50m",
              escalate: { after: "1h", to: [address("eve")] },
              timeout: "5h",
            },
          ],
        },
      });
      const run = await author(runWorkflow, { workflow_id: workflow, wait: 0 });
      await settle();
      return (await services.read.approvals.findByStep({ runId: run.id, stepId: "ask", item: null }))!.id;
    },
  };
}

/** Whether a call succeeded; errors of the domain are refusals. */
const accepted = (call: Promise<unknown>): Promise<boolean> =>
  call.then(
    () => true,
    (error: unknown) => {
      if (error instanceof AppError && error.code !== "internal") return false;
      throw error;
    },
  );

it("ends as the model says, whatever people and time do", async () => {
  const seed = testSeed("approvals against a model");
  const random = seededRandom(seed);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
  const { clock, settle, services, as, setPlan, digest, ask } = await world();
  const outcomes = new Set<string>();
  for (let sequence = 0; sequence < SEQUENCES; sequence += 1) {
    const model = new Model(
      pick([
        { required: 1, declines: 1 },
        { required: 2, declines: 1 },
        { required: 2, declines: 2 },
      ]),
    );
    setPlan(0);
    const id = await ask(sequence, model.rules);
    const trail: string[] = [`seed ${seed}, sequence ${sequence}, ${JSON.stringify(model.rules)}`];
    const compare = async (said: boolean, done: boolean) => {
      const found = (await services.read.approvals.find(id))!;
      const votes = found.decisions.filter(({ planDigest: of }) => of === digest());
      expect({
        trail,
        done,
        status: found.status,
        votes: votes.map(({ person, seat, approved }) => [person, seat, approved].join(" ")).toSorted(),
      }).toEqual({
        trail,
        done: said,
        status: model.status,
        votes: model.counted
          .map(({ by, place, approved }) => [address(by), address(place), approved].join(" "))
          .toSorted(),
      });
    };
    for (let step = 0; step < STEPS; step += 1) {
      const [name, other] = [pick(PEOPLE), pick(PEOPLE)];
      const action = pick([
        "approve",
        "approve",
        "approve",
        "decline",
        "delegate",
        "edit",
        "time",
        "away",
        "back",
      ] as const);
      trail.push(`${action} ${name} ${other}`);
      if (action === "approve" || action === "decline") {
        const override = random() < 0.5;
        trail.push(`override ${override}`);
        const input = { approval_id: id, decision: action, plan_digest: digest(), override };
        const done = await accepted(as(name)(decideApproval, input));
        const { decisions } = (await services.read.approvals.find(id))!;
        const vote = decisions.find((one) => one.person === address(name) && one.planDigest === digest());
        const taken = PEOPLE.find((one) => address(one) === vote?.seat);
        await compare(model.decide(name, action === "approve", override, taken), done);
      } else if (action === "delegate") {
        const said = model.delegate(name, other);
        await compare(
          said,
          await accepted(as(name)(delegateApproval, { approval_id: id, to: address(other) })),
        );
      } else if (action === "edit") {
        model.plan += 1;
        setPlan(model.plan);
        await compare(true, true);
      } else if (action === "time") {
        const ms = pick([10 * MINUTE, 55 * MINUTE, 2 * HOUR]);
        trail.push(`${ms / MINUTE} min`);
        clock.advance(ms);
        await settle();
        model.advance(ms);
        await compare(true, true);
      } else if (action === "away") {
        const input = { until: iso(clock.now() + 100 * DAY), substitute: address(other) };
        const set = await accepted(as(name)(setAbsence, input));
        // Whether it is refused is up to circles, of which there must be none.
        if (set) model.away.set(name, other);
        if (set && model.standsInFor(name).includes(other)) throw new Error(`a circle: ${trail.join(", ")}`);
      } else {
        await as(name)(endAbsence);
        model.away.delete(name);
      }
    }
    clock.advance(TIMEOUT);
    await settle();
    model.advance(TIMEOUT);
    await compare(true, true);
    outcomes.add(model.status);
    for (const name of PEOPLE) await as(name)(endAbsence);
  }
  // Each kind of end occurred, so the comparison means something.
  expect([...outcomes].toSorted()).toEqual(["approved", "declined", "expired"]);
});
