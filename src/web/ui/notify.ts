/** What was done, said in passing; what failed, until it is closed. */
import { notifications } from "@mantine/notifications";
import { ApiError } from "../api/client.ts";

export const notifySuccess = (message: string): string => notifications.show({ message, color: "green" });

export function notifyError(what: string, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  const issues = error instanceof ApiError ? (error.problem.errors ?? []) : [];
  const more = issues.map(({ path, message: text, fix }) =>
    `${path} ${text}${fix === undefined ? "" : `. ${fix}`}`.trim(),
  );
  notifications.show({
    title: what,
    message: [message, ...more.slice(0, 3)].join("\n"),
    color: "red",
    autoClose: false,
    styles: { description: { whiteSpace: "pre-line" } },
  });
}
