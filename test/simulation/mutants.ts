/** Planted bugs of the engine. Each is a textual patch of one source file; `find` occurs exactly once in it. */

export interface Mutant {
  name: string;
  /** Relative to the root of the repository. */
  file: string;
  /** A text that occurs once in the file. */
  find: string;
  replace: string;
  /** The consequence for a user, in one sentence. */
  breaks: string;
}

export const MUTANTS: readonly Mutant[] = [
  // --- Claims, leases and results of jobs -------------------------------------------------------------------------------
  {
    name: "fence-removed-at-result",
    file: "src/store/jobs.ts",
    find: '    .where("id", "=", id)\n    .where("fence", "=", fence)\n    .where("executor", "=", executor)\n    .returning("id"),',
    replace: '    .where("id", "=", id)\n    .returning("id"),',
    breaks:
      "A worker that was reclaimed while it was paused still records its result, over the attempt of its successor.",
  },
  {
    name: "fence-removed-at-start",
    file: "src/store/jobs.ts",
    find: '      .where("fence", "=", fence)\n      .where("executor", "=", executor),\n',
    replace: ",\n",
    breaks: "A worker whose job was reclaimed begins to send after all, and its attempt never ends.",
  },
  {
    name: "outcome-recorded-without-claim",
    file: "src/queue/run-job.ts",
    find: "    if (!applied) return lost;\n",
    replace: "",
    breaks: "A result whose commit was acknowledged late is recorded twice.",
  },
  {
    name: "child-run-started-twice",
    file: "src/queue/run-job.ts",
    find:
      '    if (given.kind === "deferred" && !(await tx.jobs.lockClaim(job, executor))) return lost;\n' +
      '    const result = given.kind === "deferred" ? await given.decide(tx) : given;\n' +
      "    const applied =\n" +
      '      result.kind === "complete"\n' +
      "        ? await tx.jobs.complete(job, executor)\n" +
      "        : await tx.jobs.release(job, executor, result);\n" +
      "    if (!applied) return lost;\n",
    replace:
      '    const result = given.kind === "deferred" ? await given.decide(tx) : given;\n' +
      "    const applied =\n" +
      '      result.kind === "complete"\n' +
      "        ? await tx.jobs.complete(job, executor)\n" +
      "        : await tx.jobs.release(job, executor, result);\n" +
      '    if (!applied && given.kind !== "deferred") return lost;\n',
    breaks: "Two workers start a child run for the same step.",
  },
  {
    name: "child-counted-without-claim",
    file: "src/queue/run-job.ts",
    find: '    if (given.kind === "deferred" && !(await tx.jobs.lockClaim(job, executor))) return lost;\n',
    replace: "",
    breaks: "The starts of child runs are counted for the hourly limit although they start nothing.",
  },
  {
    name: "lost-claim-never-released",
    file: "src/queue/worker.ts",
    find: "    await lost.release();\n",
    replace: "",
    breaks: "A job whose claim was committed without an answer is never run while its worker lives.",
  },
  {
    name: "result-not-recorded-later",
    file: "src/queue/run-job.ts",
    find: "        await recordLater(job, recordAndContinue);\n",
    replace: "",
    breaks:
      "A result that could not be stored at once is dropped, and the effect is sent again without an interruption.",
  },
  {
    name: "reclaimed-job-never-ready",
    file: "src/store/jobs.ts",
    find: '          state: "ready" as const,\n',
    replace: '          state: "claimed" as const,\n',
    breaks: "The runs of a crashed worker never go on.",
  },
  {
    name: "dead-executor-kept-alive",
    file: "src/store/jobs.ts",
    find: '      await trx\n        .insertInto("executors")\n',
    replace:
      '      await trx.updateTable("executors").set((eb) => ({ beat: eb("beat", "+", 1) })).execute();\n' +
      '      await trx\n        .insertInto("executors")\n',
    breaks:
      "Each worker sends the heartbeats of all others too, so the jobs of a crashed one are never reclaimed.",
  },
  {
    name: "live-executor-reclaimed",
    file: "src/queue/leases.ts",
    find: "      if (observed.get(id)?.heartbeats !== heartbeats) observed.set",
    replace: "      if (!observed.has(id)) observed.set",
    breaks: "Each worker takes away the jobs of all others once a lease, although they send heartbeats.",
  },
  {
    name: "crashed-attempts-stay-open",
    file: "src/queue/leases.ts",
    find: "      if (reclaimed !== undefined) await options.interruptAttempts(tx, dead.id);\n",
    replace: "",
    breaks:
      "The attempt of a crashed worker stays open, leaves no interruption, and its effect is sent again.",
  },
  {
    name: "due-jobs-unnoticed",
    file: "src/store/ready-jobs.ts",
    find: "due_at <= ${dueAt}) or exists (",
    replace: "due_at <= ${dueAt} and 1 = 0) or exists (",
    breaks: "Timers, timeouts and retries fire only if other jobs happen to be ready.",
  },
  {
    name: "quarantined-job-blocks-all",
    file: "src/queue/claim-policy.ts",
    find: '    if (running.length === 0) return "isolate";\n',
    replace: "",
    breaks: "After a job was running at two crashes, no worker claims any job again.",
  },
  {
    name: "successor-ignores-resource-limit",
    file: "src/store/claim-jobs.ts",
    find: '          .where("resource", "is", null)\n',
    replace: "",
    breaks:
      "A step uses a connection beyond its concurrency, because it was claimed with the end of the step before it.",
  },
  {
    name: "resource-slot-leak",
    file: "src/store/jobs.ts",
    find: '          state: dueAt === null ? "ready" : "later",\n',
    replace: '          state: dueAt === null ? "ready" : job.resource === null ? "later" : "claimed",\n',
    breaks: "A step that is retried later keeps the place of its connection forever, and does not run again.",
  },
  {
    name: "commit-hooks-before-commit",
    file: "src/store/engine-transaction.ts",
    find: "    return (callback) => void callbacks.push(callback);\n",
    replace: "    return (callback) => callback();\n",
    breaks: "Metrics and logs count ends of runs and attempts that were rolled back, or count them twice.",
  },

  // --- Runs: stop, end, children, queue, state ---------------------------------------------------------------------------
  {
    name: "next-step-starts-after-cancel",
    file: "src/engine/run-state/decide.ts",
    find: "  if (stopping || states.anyFailed()) {\n",
    replace: "  if (states.anyFailed()) {\n",
    breaks: "A cancelled run starts its next steps, or waits forever.",
  },
  {
    name: "attempt-starts-after-cancel",
    file: "src/engine/run-state/record-outcome.ts",
    find: "  if (isEnding(run) || run.finishedAt !== null) return false;\n",
    replace: "  if (run.finishedAt !== null) return false;\n",
    breaks: "An effect is sent after the cancellation of its run was acknowledged.",
  },
  {
    name: "run-ends-while-step-runs",
    file: "src/engine/run-state/advance-run.ts",
    find: "  return claimed.length + children.length;\n",
    replace: "  return children.length;\n",
    breaks: "A run fails or is cancelled while one of its steps still runs; its effect is not undone.",
  },
  {
    name: "run-finishes-during-fan-out",
    file: "src/engine/run-state/decide.ts",
    find: '    next: nextStates.includes("queued", "running")\n',
    replace: '    next: nextStates.includes("queued")\n',
    breaks: "A run ends, and its output is evaluated, while a fan-out or a child run is still running.",
  },
  {
    name: "ended-run-ends-again",
    file: "src/engine/run-state/run-update.ts",
    find: "  if (run === undefined || run.finishedAt !== null) return undefined;\n",
    replace: "  if (run === undefined) return undefined;\n",
    breaks: "A run that has succeeded becomes cancelled afterwards, and may be undone.",
  },
  {
    name: "child-not-cancelled",
    file: "src/engine/run-state/advance-run.ts",
    find: '    await tx.jobs.add(newJob(runRef(childRun), "cancel", run.priority));\n',
    replace: "",
    breaks: "The child runs of a cancelled run go on, and start further steps.",
  },
  {
    name: "parent-not-woken-by-failed-child",
    file: "src/engine/run-state/end-run.ts",
    find: "  if (run.parent !== null) await tx.jobs.add",
    replace: '  if (run.parent !== null && end.status === "succeeded") await tx.jobs.add',
    breaks: "A run waits forever for a child run that has failed.",
  },
  {
    name: "child-done-dropped-by-failure",
    file: "src/store/jobs.ts",
    find: '["child_done", "run_timeout", "undo"]',
    replace: '["run_timeout", "undo"]',
    breaks:
      "A run with a failed step never ends, because it has dropped the job that says that its child run has ended.",
  },
  {
    name: "all-queued-runs-admitted",
    file: "src/engine/run-state/start-run.ts",
    find: "    if (!(await hasCapacity(tx, run, compiled))) return;\n",
    replace: "",
    breaks: "When one run of a workflow with a concurrency limit ends, all queued ones start at once.",
  },
  {
    name: "queue-not-advanced",
    file: "src/engine/run-state/end-run.ts",
    find: "  await admitQueuedRuns(context, tx, run, compiled);\n",
    replace: "",
    breaks: "Runs that wait for the concurrency of their workflow never start.",
  },
  {
    name: "state-update-lost",
    file: "src/engine/run-state/workflow-state.ts",
    find: "replace(workflowId, run.stateRevision, state, subject)",
    replace: "replace(workflowId, stored?.revision ?? FIRST_STATE_REVISION, state, subject)",
    breaks: "Of two runs that count in the state of their workflow at the same time, one is not counted.",
  },

  // --- Fan-outs and loops -------------------------------------------------------------------------------------------------
  {
    name: "fan-out-item-started-twice",
    file: "src/engine/run-state/fan-out.ts",
    find: "    items.started += 1;\n",
    replace: "",
    breaks: "Items of a fan-out run several times, and others never.",
  },
  {
    name: "fan-out-slot-leak",
    file: "src/engine/run-state/fan-out.ts",
    find: "  } else if (!stopping && items.started < items.total) {\n",
    replace: '  } else if (!stopping && itemState !== "failed_continued" && items.started < items.total) {\n',
    breaks:
      "A fan-out with on_error: continue stops when the number of its failed items reaches its concurrency.",
  },
  {
    name: "fan-out-join-counted-twice",
    file: "src/engine/run-state/fan-out.ts",
    find: "    await tx.runs.saveStep(step, { seq, state, waitUntil: null });\n",
    replace:
      "    await tx.runs.saveStep(step, { seq, state, waitUntil: null, items: { ...items, done: items.done + 1 } });\n",
    breaks: "A fan-out of waits, approvals or child runs ends before all of its items have, or never.",
  },
  {
    name: "loop-total-off-by-one",
    file: "src/engine/run-state/repeat.ts",
    find: "total: index + 1, started",
    replace: "total: index + 2, started",
    breaks: "A loop that has ended says that one of its iterations is missing.",
  },

  // --- Undo ---------------------------------------------------------------------------------------------------------------
  {
    name: "undo-order-reversed",
    file: "src/store/undo-reader.ts",
    find: '.orderBy("done.seq", "desc")',
    replace: '.orderBy("done.seq", "asc")',
    breaks: "Steps are undone in the order in which they ran.",
  },
  {
    name: "undo-of-items-skipped",
    file: "src/store/undo-reader.ts",
    find: '.whereRef("undo.item", "=", "done.item"),',
    replace: '.where("undo.item", ">=", NO_ITEM),',
    breaks: "Only one item of a fan-out is undone.",
  },

  // --- Waits --------------------------------------------------------------------------------------------------------------
  {
    name: "wait-ended-twice",
    file: "src/engine/executor/wait-handlers.ts",
    find: '    const isWaiting = step?.state === "waiting" || step?.state === "running";\n',
    replace: "    const isWaiting = step !== undefined;\n",
    breaks:
      "A step that has received its event, or whose child run has succeeded, fails or succeeds again when its timeout fires.",
  },
  {
    name: "decision-adds-no-job",
    file: "src/engine/run-state/waits/approval.ts",
    find: '  await tx.jobs.add(newJob({ runId, stepId, item }, "decided", run.priority));\n',
    replace: "",
    breaks: "A run does not go on after its approval.",
  },
  {
    name: "approval-expires-after-decision",
    file: "src/store/approvals.ts",
    find: '        .where("id", "=", id)\n        .where("status", "=", "pending")\n',
    replace: '        .where("id", "=", id)\n',
    breaks: "An approval that was given in time expires, and its step fails.",
  },
  {
    name: "early-event-lost",
    file: "src/engine/run-state/waits/event.ts",
    find: '    if (early !== undefined) await tx.jobs.add(newJob(ref, "event", run.priority));\n',
    replace: "",
    breaks: "An event that was accepted before its step waits is never seen.",
  },
  {
    name: "event-accepted-twice",
    file: "src/engine/run-state/waits/event.ts",
    find:
      "    const isWaiting = await assertExpected(tx, { run, compiled, stepId, now });\n" +
      "    const receivedAt = iso(now);\n" +
      "    if (!(await tx.events.receive(target, { receivedAt, body }))) throw alreadyReceived();\n",
    replace:
      "    const isWaiting =\n" +
      '      run.finishedAt === null && run.stepStates.at(compiled.position.get(stepId)!) === "waiting";\n' +
      "    const receivedAt = iso(now);\n" +
      "    await tx.events.receive(target, { receivedAt, body });\n",
    breaks: "Two senders both get the answer that their event was accepted, and one of them is dropped.",
  },
  {
    name: "timer-lost-with-early-event",
    file: "src/engine/run-state/waits/event.ts",
    find: '    if (until !== null) await tx.jobs.add(newJob(ref, "wake", run.priority, { dueAt: until, attempt }));\n',
    replace:
      "    if (until !== null && early === undefined)\n" +
      '      await tx.jobs.add(newJob(ref, "wake", run.priority, { dueAt: until, attempt }));\n',
    breaks: "A wait whose early event does not match has no timeout, and never ends.",
  },

  // --- Effects and interruptions -------------------------------------------------------------------------------------------
  {
    name: "effect-key-not-recorded",
    file: "src/store/step-writer.ts",
    find: "        attempt.effectKey ?? null,\n",
    replace: "        null,\n",
    breaks: "A crash during an effect opens no interruption, and the effect is sent again without asking.",
  },
  {
    name: "idempotency-key-changes-by-attempt",
    file: "src/engine/executor/attempt.ts",
    find: 'job.item ?? "-", inputHash].join',
    replace: 'job.item ?? "-", inputHash, job.attempt].join',
    breaks: "A receiver does not recognize that a request is repeated.",
  },
  {
    name: "interruption-settled-twice",
    file: "src/store/interruptions.ts",
    find: '    eb.and([eb("outcome", "=", "not_happened"), eb("settled_by", "is", null)]),\n',
    replace: '    eb("outcome", "is not", null),\n',
    breaks:
      "Two people settle an interruption with different answers, and both get the answer that theirs counts.",
  },

  // --- Retries ------------------------------------------------------------------------------------------------------------
  {
    name: "endless-retries",
    file: "src/engine/executor/step-handler.ts",
    find: "    if (next !== null) return retry(next, job.retryCount + 1);\n",
    replace: "    if (next !== null) return retry(next, job.retryCount);\n",
    breaks: "A step with retry never gives up.",
  },
  {
    name: "retry-delay-ignored",
    file: "src/engine/executor/step-handler.ts",
    find: "    const next = delay === undefined ? null : iso(context.clock.now() + delay);\n",
    replace: "    const next = delay === undefined ? null : iso(context.clock.now());\n",
    breaks: "All attempts of a step follow each other at once, also when the receiver has asked to wait.",
  },

  // --- Schedules, webhooks, subscriptions ----------------------------------------------------------------------------------
  {
    name: "schedule-slot-lost",
    file: "src/engine/run-state/schedules.ts",
    find: "      await startRun(context, tx, prepared);\n",
    replace:
      "      tx.onCommit(() => void transaction((later) => startRun(context, later, prepared)).catch(() => {}));\n",
    breaks: "A time of a schedule has no run, and is not recorded as skipped.",
  },
  {
    name: "webhook-started-twice",
    file: "src/store/trigger-deliveries.ts",
    find: "        if (repeated !== undefined) return repeated;\n",
    replace:
      '        if (repeated !== undefined && repeated.status !== "started") return repeated;\n' +
      "        if (repeated !== undefined) row.key = null;\n",
    breaks: "A delivery that its sender repeats after its run has started starts a second run.",
  },
  {
    name: "webhook-lost-after-crash",
    file: "src/store/trigger-deliveries.ts",
    find: '              .where("next_at", "<=", now)\n              .orderBy("next_at")\n',
    replace:
      '              .where("next_at", "<=", now)\n              .where("attempts", "=", 0)\n              .orderBy("next_at")\n',
    breaks: "A delivery whose worker crashed before it has started the run is never handled again.",
  },
  {
    name: "subscription-delivery-lost-after-crash",
    file: "src/store/outbox.ts",
    find: '    .set((eb) => ({ due_at: at, claimed_by: null, fence: eb("fence", "+", 1) }))\n',
    replace:
      '    .set((eb) => ({ state: "failed", due_at: null, ended_at: at, claimed_by: null, fence: eb("fence", "+", 1) }))\n',
    breaks: "An event that a crashed worker was delivering never arrives.",
  },

  // --- Idempotency keys and counters ----------------------------------------------------------------------------------------
  {
    name: "idempotency-record-in-other-transaction",
    file: "src/store/unit-of-work.ts",
    find:
      "        : runOnce(trx, { ...intent, idempotency: intent.idempotency }, clock, runEffect);\n" +
      "    }, locking),\n" +
      "  );\n",
    replace:
      "        : runOnce(trx, { ...intent, idempotency: intent.idempotency }, clock, runEffect).finally(() =>\n" +
      '            trx.deleteFrom("idempotency_keys").where("key", "=", intent.idempotency!.key).execute(),\n' +
      "          );\n" +
      "    }, locking),\n" +
      "  ).then(async (result) => {\n" +
      "    const { idempotency } = intent;\n" +
      "    if (idempotency !== undefined)\n" +
      "      await store.transaction(\n" +
      "        (trx) => runOnce(trx, { ...intent, idempotency }, clock, () => Promise.resolve(result)),\n" +
      "        locking,\n" +
      "      );\n" +
      "    return result;\n" +
      "  });\n",
    breaks: "A request that is repeated after a crash of the server starts a second run.",
  },
  {
    name: "state-bytes-not-subtracted",
    file: "src/store/workflow-states.ts",
    find: "        { subject: previous.subject, project, bytes: -previous.stored_bytes },\n",
    replace: "",
    breaks: "What an owner stores seems to grow with each run that commits, until no more run may start.",
  },
  {
    name: "run-timeout-lost",
    file: "src/engine/run-state/start-run.ts",
    find: '    await tx.jobs.add(newJob(runRef(run.id), "run_timeout", run.priority, { dueAt }));\n',
    replace: "",
    breaks: "A run with a timeout waits for as long as its steps do.",
  },
  {
    name: "failure-not-handled",
    file: "src/engine/run-state/end-run.ts",
    find: '  if (onFailure !== null) await tx.jobs.add(newJob(runRef(run.id), "on_failure", run.priority));\n',
    replace: "",
    breaks: "Nothing runs after a failure, although the workflow has on_failure.",
  },
  {
    name: "retry-reuses-nothing",
    file: "src/engine/executor/recorded-output.ts",
    find: '    if (step?.state !== "succeeded" || step.inputHash !== inputHash) continue;\n',
    replace: "    if (step !== undefined || earlier !== undefined) continue;\n",
    breaks: "The retry of a run sends again what the run had sent.",
  },
  {
    name: "backfill-slot-skipped",
    file: "src/engine/run-state/backfills.ts",
    find: "    const nextAt = timesFrom(current, time, 1)[1] ?? null;\n",
    replace: "    const nextAt = timesFrom(current, time, 2)[2] ?? null;\n",
    breaks: "A backfill starts a run for every other slot of its range.",
  },
  {
    name: "called-version-not-pinned",
    file: "src/engine/executor/job-handlers.ts",
    find: "        pins: run.pins,\n",
    replace: "        pins: null,\n",
    breaks: "After an approval another version of a called workflow runs than the one that was approved.",
  },
];
