/** What each error means and what to do about it, for docs/troubleshooting.md. A code without an entry does not compile. */
import type { ErrorCode } from "../../src/core/errors.ts";
import type { StepErrorCode } from "../../src/core/step-errors.ts";

interface Advice {
  meaning: string;
  remedy: string;
}

export const ADVICE: Readonly<Record<ErrorCode, Advice>> = {
  invalid_input: {
    meaning:
      "Fields are missing, unknown, of the wrong type or out of range. `errors` names each with its path.",
    remedy:
      "Correct every entry of `errors`; `allowed`, `did_you_mean` and `fix` say how. Nothing was changed.",
  },
  invalid_json: {
    meaning: "The body can't be read as JSON.",
    remedy: "Look for trailing commas, single quotes and a body that was cut off; send UTF-8.",
  },
  invalid_request: {
    meaning: "The HTTP request itself is broken: no Host header, two lengths, bytes that are no request.",
    remedy: "Use an ordinary HTTP client. If you do, look at the proxies in between.",
  },
  invalid_cursor: {
    meaning: "The cursor was changed, comes from another list or other filters, or from another instance.",
    remedy: "Read the list from its beginning, and repeat the filters with each page.",
  },
  unauthorized: {
    meaning:
      "No living API key or session came with the request. A key may be mistyped, expired, revoked, or its owner deactivated; all look the same from outside.",
    remedy:
      "Send the key in `X-API-Key`. `millrace keys list`, or the page API Keys, tells which of them live; the log says why a known one was refused. Behind a load balancer: sign out (`/logout`) and in.",
  },
  sign_in_failed: {
    meaning: "The e-mail address or the password is wrong, or the account is not active.",
    remedy:
      "Try again, or use the link for a forgotten password. Without mail: `millrace users reset <address>`.",
  },
  sign_on_refused: {
    meaning:
      "The identity provider knows the person, but they are not let in: deactivated, without a verified address, without a group that gives a role, or somebody else has the address.",
    remedy:
      "The message says which. Verify the address at the provider, add the person to a group (`authentication.sign_on.groups`), or let them in again under People.",
  },
  person_needed: {
    meaning:
      "The operation is for somebody who is signed in; no key may do it, since it could make another way in.",
    remedy: "Do it in the web interface, or on the machine with `millrace keys` and `millrace users`.",
  },
  missing_scope: {
    meaning: "The key lacks the scope, or its owner's role (or yours) does not allow it any more.",
    remedy: "Use a key with the scope that `errors` names, or have an admin change the role.",
  },
  approval_not_yours: {
    meaning: "The approval names others, or you started the run yourself and may not decide it.",
    remedy: "Ask one of the assignees. `approvals.by_starter: true` lets starters decide.",
  },
  forbidden_origin: {
    meaning:
      "A browser sent the request from another site's page, or to a host name that is not the server's.",
    remedy: "Set `MILLRACE_BASE_URL` to the address people use. Scripts need no Origin header.",
  },
  route_not_found: {
    meaning: "Nothing is served at this path.",
    remedy: "See `/apidoc` for what there is; mind a proxy that changes paths.",
  },
  workflow_not_found: {
    meaning: "No workflow has this id.",
    remedy: "`list_workflows` finds it; the message names a near match.",
  },
  version_not_found: {
    meaning: "The workflow has no version with this number.",
    remedy: "`list_workflow_versions` lists them.",
  },
  run_not_found: {
    meaning: "No run has this id; it may have been cleared away (`retention.runs`).",
    remedy: "`list_runs` lists those that are kept.",
  },
  approval_not_found: {
    meaning: "No approval has this id.",
    remedy: "`list_approvals` lists those that wait.",
  },
  value_not_found: {
    meaning: "The run has no such value, or the step has not run.",
    remedy: "Take the `ref` out of `get_run`.",
  },
  database_not_found: {
    meaning: "The configuration names no such database.",
    remedy: "`describe_environment` lists them; add it under `databases`.",
  },
  schedule_not_found: {
    meaning: "The workflow's published version has no schedule.",
    remedy: "Give its definition a `schedule` and publish it.",
  },
  api_key_not_found: { meaning: "No key of yours has this id.", remedy: "`list_api_keys` lists them." },
  user_not_found: { meaning: "No user has this id.", remedy: "`list_users` lists them." },
  session_not_found: {
    meaning: "The session has ended, or is another's.",
    remedy: "Nothing; `list_sessions` lists those that live.",
  },
  method_not_allowed: {
    meaning: "The path exists, but not with this method.",
    remedy: "The `Allow` header says which methods it takes.",
  },
  request_timeout: {
    meaning: "The request did not arrive in time (headers 10 s, all of it 60 s).",
    remedy: "Send it faster; look for a proxy that holds it back.",
  },
  workflow_archived: {
    meaning: "The workflow is archived and can't be changed or run.",
    remedy: "`restore_workflow` takes it back first.",
  },
  workflow_not_runnable: {
    meaning: "Its definition has faults, has none, or needs something that the environment lacks.",
    remedy: "`errors` names each fault; `validate_workflow` checks a corrected one.",
  },
  examples_failed: {
    meaning: "The definition's own examples do not come out as they say.",
    remedy: "`errors` shows what came out instead; correct the workflow or the example.",
  },
  run_finished: {
    meaning: "The run has ended; it can't be cancelled or decided any more.",
    remedy: "Look at it with `get_run`; `retry_run` repeats it.",
  },
  run_not_finished: {
    meaning: "The run still goes on, so it can't be retried.",
    remedy: "Wait for it, or cancel it first.",
  },
  approval_decided: {
    meaning: "Somebody has decided it, or its time is up.",
    remedy: "`get_approval` shows the decision.",
  },
  confirmation_needed: {
    meaning:
      "What you ask for can't be undone quietly (an effect would be repeated), and you have not said that you mean it.",
    remedy: "Read the message, then repeat the request with the confirmation that it names.",
  },
  sign_on_elsewhere: {
    meaning:
      "People sign in at an identity provider here (`--auth-mode cognito` or `oidc`), which holds passwords, and groups that give roles.",
    remedy: "Change it at the provider.",
  },
  setup_done: { meaning: "The first admin exists.", remedy: "Sign in, or have an admin invite you." },
  email_taken: {
    meaning: "Somebody here has the address already.",
    remedy: "Look under People: renew the invitation, or let them in again.",
  },
  last_admin: {
    meaning: "It would leave nobody who can administer the instance.",
    remedy: "Make somebody else an admin first.",
  },
  too_many_keys: { meaning: "A person may have 100 living keys.", remedy: "Revoke those that nobody uses." },
  user_not_invited: {
    meaning: "There is no open invitation to renew.",
    remedy: "If they forgot the password: reset it.",
  },
  user_not_active: {
    meaning: "The user is invited or deactivated.",
    remedy: "Renew the invitation, or let them in again.",
  },
  link_expired: {
    meaning: "The link was used, was replaced by a newer one, or has expired.",
    remedy: "Ask for a new link. For the first admin, start `serve` again: it prints a new one.",
  },
  api_key_revoked: {
    meaning: "The key is revoked, so it can't be rotated.",
    remedy: "Create a new key.",
  },
  api_key_expired: {
    meaning: "The key has expired, so it can't be rotated.",
    remedy: "Create a new key.",
  },
  version_conflict: {
    meaning: "It was changed since you read it (`If-Match`), so your change would undo another's.",
    remedy: "Read it again, apply your change to that, and send it with the new version.",
  },
  payload_too_large: {
    meaning: "The body is larger than 1 MiB.",
    remedy: "Send less; put large data into a database and query it.",
  },
  unsupported_media_type: {
    meaning: "The body is not announced as JSON.",
    remedy: "Send `Content-Type: application/json`.",
  },
  idempotency_key_reused: {
    meaning: "The idempotency key came with another request within 24 h.",
    remedy: "Use a new key for a new request, the same key only to repeat one.",
  },
  rate_limited: {
    meaning: "The key, or the person, has used up its requests of this minute.",
    remedy: "Wait for as long as `Retry-After` says; `limits.requests_per_minute` sets the limit.",
  },
  too_many_attempts: {
    meaning: "Too many wrong passwords, links or mails from one address or for one account.",
    remedy: "Wait for as long as `Retry-After` says.",
  },
  too_many_runs: {
    meaning: "So many runs are unfinished, or were started by this key, that no more are taken.",
    remedy:
      "Wait for as long as `Retry-After` says, or cancel some. `limits.unfinished_runs` and `limits.per_key` set the limits. If runs don't end: is an executor running (`millrace doctor`)?",
  },
  too_many_streams: {
    meaning: "The key, or the person, has too many event streams open.",
    remedy: "Close some; several viewers can share one.",
  },
  headers_too_large: {
    meaning: "The request's headers are larger than 64 KiB.",
    remedy: "Send less; clear the site's cookies.",
  },
  internal: {
    meaning: "A fault of Millrace itself. It was logged once, with this request id.",
    remedy: "Look for the request id in the log; report it with that line. Trying again may help.",
  },
  connection_failed: {
    meaning: "A database, mail server, identity provider or other system could not be reached.",
    remedy: "`millrace doctor` tries each of them and says what is wrong.",
  },
  busy: {
    meaning: "The state's lock could not be had within 5 s, or too many passwords are being checked.",
    remedy:
      "Try again after `Retry-After`. If it stays: a slow disk or network file system, or a process that holds the lock; `millrace doctor` looks.",
  },
  storage_unavailable: {
    meaning: "The state directory can't be used: full, read-only, gone, damaged, or of a newer release.",
    remedy:
      "The message says which. `millrace doctor` says what to do; see Operations for restoring a backup.",
  },
};

export const STEP_ADVICE: Readonly<Record<StepErrorCode, string>> = {
  approval_timeout: "Ask earlier, or give the step a longer `timeout`.",
  assert_failed: "The step's message says which condition; look at the steps before it.",
  cancelled: "Somebody cancelled it, or the run was stopped for another reason: see the run's `error`.",
  child_failed: "Open the child run; its own failure says what to do.",
  database_failed: "The message holds what the database said: correct the query or its parameters.",
  database_read_only:
    "Give the database `access: read-write` in the configuration, if the workflow may write.",
  database_unavailable: "Is the database up, and its password variable set? `millrace doctor` tries it.",
  deadlock: "It is tried again by `retry`; lock rows in the same order in all workflows.",
  environment: "Something that the step names is not configured, or its variable is not set.",
  expression_failed: "The message shows the expression and the value that it failed on.",
  expression_limit: "Do less in one expression: filter in SQL, or split the work with `for_each`.",
  http_blocked: "Private addresses need `http.allowed_hosts`; secrets go to their own `hosts` only.",
  http_failed: "The host could not be reached, or broke the connection; `retry` repeats it.",
  http_status:
    "The answer's status is not 2xx; `accept_status` takes others. `details` has the status and the beginning of the body.",
  input_invalid: "A field's expression gave what the field can't take; the message says which.",
  interrupted: "An executor ended or was killed; the step is tried again by itself.",
  limit_reached: "The key's allowance (`limits.per_key`) is used up until the time that the message names.",
  mail_failed: "The mail server did not take it; `millrace doctor` tries the server.",
  mail_refused: "The address is not in `mail.allowed_domains`.",
  memory_limit: "Ask for fewer rows or columns, or aggregate in the query.",
  model_failed: "The vendor's answer is in the message; `retry` repeats it.",
  model_invalid_output: "Make the schema simpler or the instruction clearer; `retry` asks again.",
  model_rate_limited:
    "Give the model a `concurrency` in the configuration; `retry` waits as long as the vendor says.",
  model_refused: "The vendor's safety rules refused it: change the instruction.",
  null_value: "Guard the expression: `has(x) ? x : default`, or `if` on the step.",
  output_too_large: "A step may give 4 MiB of JSON: ask for less.",
  poisoned:
    "The step ended three executors alone: it needs too much memory or crashes a driver. Split its work.",
  run_timeout: "The workflow's own `timeout` was reached.",
  step_failed: "The message says what happened.",
  timeout: "The step's `timeout` was reached: make it longer, or do less.",
  too_deep: "Workflows may call each other 8 deep: look for a circle.",
  too_many_items: "A `for_each` takes 100,000 items: group them first.",
  tool_failed: "The MCP tool said that it failed; its own words are in the message.",
  tool_unavailable: "Is the MCP server running and its key set? `millrace doctor` tries it.",
};
