/** What errors say where only a part of the configuration may be used. It does not tell whether a name is configured. */

const HINT =
  "Only what is granted to the project, and what the key is limited to, can be used (describe_environment shows it). Ask an admin for more.";

/** @returns the fix of an error, with the hint */
export const withGrantHint = (fix: string | undefined): string =>
  fix === undefined ? HINT : `${fix} ${HINT}`;

/** Codes of issues about something that may be configured, but not granted. */
const HINTED: ReadonlySet<string> = new Set([
  "database_read_only",
  "mail_refused",
  "unknown_chat",
  "unknown_database",
  "unknown_model",
  "unknown_secret",
  "unknown_server",
  "unknown_tool",
]);

/** Adds the hint to the issues that a grant may solve. */
export const withGrantHints = <T extends { code: string; fix?: string | undefined }>(
  issues: readonly T[],
): T[] =>
  issues.map((issue) =>
    HINTED.has(issue.code) ? Object.assign({}, issue, { fix: withGrantHint(issue.fix) }) : issue,
  );
