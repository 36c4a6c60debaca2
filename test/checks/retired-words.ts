/**
 * Words that this project does not use, each with what to write instead. `docs/glossary.md` has the terms that it does
 * use. A word matches as a part of an identifier too: `toldOnce`, `was_told` and `told-once` all contain `told`.
 */
export interface RetiredWord {
  word: string;
  instead: string;
  /** Where the word stays, as path prefixes: stored names, and terms of other people's protocols. */
  except?: readonly string[];
}

/** The database keeps its column names, because the previous release reads them during an upgrade. */
const STORED = [
  "src/store/",
  "test/store/",
  "test/queue/",
  "test/support/",
  "schemas/generated/database.sql",
];

/** These say what the old names were. */
const HISTORY = ["CHANGELOG.md", "docs/upgrading.md"];

export const RETIRED_WORDS: readonly RetiredWord[] = [
  { word: "told", instead: "reported, notified, logged or recorded" },
  { word: "mend", instead: "fix", except: HISTORY },
  { word: "mends", instead: "fixes" },
  { word: "mended", instead: "fixed" },
  { word: "mending", instead: "fixing" },
  { word: "anew", instead: "again" },
  { word: "afresh", instead: "again, or from scratch" },
  { word: "lately", instead: "recently" },
  { word: "glance", instead: "getStatusSummaries, or what it returns" },
  { word: "whence", instead: "source" },
  { word: "shall", instead: "must, or the present tense" },
  { word: "heir", instead: "successor" },
  { word: "heirs", instead: "successors" },
  { word: "rung", instead: "woken" },
  { word: "ringed", instead: "woken" },
  { word: "beaten", instead: "lastHeartbeat" },
  { word: "beats", instead: "heartbeats" },
  { word: "fault", instead: "issue (found by a check) or error (at run time)", except: HISTORY },
  { word: "faults", instead: "issues or errors", except: HISTORY },
  { word: "seldom", instead: "throttled, or rarely" },
  { word: "lazily", instead: "lazy" },
  { word: "keeper", instead: "cache" },
  { word: "breath", instead: "yieldToEventLoop" },
  { word: "mover", instead: "RunContext" },
  { word: "holding", instead: "JobContext, or while … has" },
  { word: "suspect", instead: "quarantined", except: STORED },
  { word: "suspects", instead: "quarantined jobs", except: STORED },
  { word: "whoever", instead: "the caller, or anyone who" },
  { word: "upkeep", instead: "maintenance" },
];

export interface RetiredPhrase {
  phrase: RegExp;
  instead: string;
  except?: readonly string[];
}

export const RETIRED_PHRASES: readonly RetiredPhrase[] = [
  { phrase: /\bunder way\b/i, instead: "running, or in progress" },
  { phrase: /\bstands? still\b/i, instead: "does not change, or a missed heartbeat" },
  { phrase: /\bas (?:many|much|long|often|far) .{0,40}\bmay\b/i, instead: "at most …, or the maximum …" },
  {
    phrase: /\b(?:takeOver|takenOver|carryOut|moveOn|handOver|handOn|handedOn)\b/,
    instead: "reclaim, run, advance, deliver",
  },
  {
    phrase: /\bis looked (?:at|for|whether|through)\b/i,
    instead: "the verb that fits: polls, checks, reads",
  },
  { phrase: /\bit_\b(?!\.?$)/, instead: "harness", except: ["README.md", "docs/"] },
  {
    phrase: /\b(?:link_dead|api_key_dead)\b/,
    instead: "link_expired, api_key_revoked, api_key_expired",
    except: HISTORY,
  },
];
