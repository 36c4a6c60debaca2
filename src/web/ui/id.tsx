/** Ids in sentences, set apart as code. */
import { Code } from "@mantine/core";
import type { ReactNode } from "react";

/** An id in a sentence, a heading or a button: as large as the text around it, and in its color. */
export const Id = ({ children }: { children: ReactNode }) => (
  // A tint of the color of the text is readable in buttons and alerts too, in both themes.
  <Code
    fz="0.92em"
    c="inherit"
    bg="color-mix(in srgb, currentColor 8%, transparent)"
    style={{ overflowWrap: "anywhere", whiteSpace: "normal" }}
  >
    {children}
  </Code>
);
