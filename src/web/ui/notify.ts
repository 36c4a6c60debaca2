/** Toasts: a success disappears by itself, an error stays until it is closed. */
import { notifications } from "@mantine/notifications";
import { createElement, type ReactNode } from "react";
import { ApiError } from "../api/client.ts";
import { MarkedText } from "./id.tsx";
import { endSentence } from "./sentence.ts";

export const notifySuccess = (message: ReactNode): string => notifications.show({ message, color: "green" });

/** For what succeeded, but not as a person may think. It stays until it is closed. */
export const notifyWarning = (message: ReactNode): string =>
  notifications.show({ message, color: "yellow", autoClose: false });

/** Number of issues that a toast lists. */
const MAX_ISSUES = 3;

/** @param title what could not be done, such as "Couldn't revoke the key" */
export function notifyError(title: string, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  const issues = error instanceof ApiError ? (error.problem.errors ?? []) : [];
  const issueLines = issues.map(({ path, message: text, fix }) =>
    `${path} ${fix === undefined ? text : `${endSentence(text)} ${fix}`}`.trim(),
  );
  notifications.show({
    title,
    message: createElement(MarkedText, { text: [message, ...issueLines.slice(0, MAX_ISSUES)].join("\n") }),
    color: "red",
    autoClose: false,
    styles: { description: { whiteSpace: "pre-line" } },
  });
}
