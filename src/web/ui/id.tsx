/** Ids in sentences, set apart as code. */
import { Code } from "@mantine/core";
import type { ReactNode } from "react";
import { markedParts } from "./marked-parts.ts";

/** An id in a sentence, a heading or a button: as large as the text around it, and in its color. */
export const Id = ({ children }: { children: ReactNode }) => (
  // A border leaves the contrast as it is: also of an error in a selected row, in buttons and alerts, in both themes.
  <Code
    fz="0.92em"
    c="inherit"
    bg="transparent"
    style={{
      boxShadow: "inset 0 0 0 1px color-mix(in srgb, currentColor 30%, transparent)",
      overflowWrap: "anywhere",
      whiteSpace: "normal",
    }}
  >
    {children}
  </Code>
);

/**
 * A text whose `parts in backticks` are set apart as code: ids in the sentences that functions return, and names in the messages of
 * the API.
 */
export const MarkedText = ({ text }: { text: string }) =>
  markedParts(text).map(({ text: part, isMarked }, index) =>
    // The parts of a text have no other identity than their places.
    // oxlint-disable-next-line react/no-array-index-key
    isMarked ? <Id key={index}>{part}</Id> : part,
  );
