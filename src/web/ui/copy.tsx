/** A code block with a button that copies it. */
import { ActionIcon, Box, CopyButton, Tooltip } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import * as texts from "#texts/ui";

interface CopyProps {
  text: string;
  /** What the text is, for the accessible name of the button: "curl command". */
  label: string;
  /** Whether the button gets the focus when the dialog around it opens. */
  focusOnOpen?: boolean | undefined;
}

export function Snippet({ text, label, focusOnOpen }: CopyProps) {
  return (
    <Box dir="ltr" pos="relative" bg="var(--mantine-color-default-hover)" bdrs="md">
      {/* Long lines wrap, so that the whole text is visible without scrolling. */}
      <Box
        component="pre"
        m={0}
        p="sm"
        pe={48}
        fz="sm"
        ff="monospace"
        ta="start"
        style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}
      >
        {text}
      </Box>
      <Box pos="absolute" top={6} style={{ insetInlineEnd: 6 }}>
        <Copy text={text} label={label} focusOnOpen={focusOnOpen} />
      </Box>
    </Box>
  );
}

export function Copy({ text, label, focusOnOpen }: CopyProps) {
  return (
    <CopyButton value={text} timeout={2_000}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? texts.copied : texts.copy({ label })}>
          <ActionIcon
            variant="default"
            onClick={copy}
            aria-label={copied ? texts.copied : texts.copy({ label })}
            data-autofocus={focusOnOpen}
          >
            {copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  );
}
