/** A code block with a button that copies it. */
import { ActionIcon, Box, CopyButton, Tooltip } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";

interface CopyProps {
  text: string;
  /** What the text is, for the accessible name of the button: "curl command". */
  label: string;
  /** Whether the button gets the focus when the dialog around it opens. */
  focusOnOpen?: boolean | undefined;
}

export function Snippet({ text, label, focusOnOpen }: CopyProps) {
  return (
    <Box pos="relative" bg="var(--mantine-color-default-hover)" bdrs="md">
      {/* Long lines wrap, so that the whole text is visible without scrolling. */}
      <Box
        component="pre"
        m={0}
        p="sm"
        pr={48}
        fz="sm"
        ff="monospace"
        ta="left"
        style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}
      >
        {text}
      </Box>
      <Box pos="absolute" top={6} right={6}>
        <Copy text={text} label={label} focusOnOpen={focusOnOpen} />
      </Box>
    </Box>
  );
}

export function Copy({ text, label, focusOnOpen }: CopyProps) {
  return (
    <CopyButton value={text} timeout={2_000}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? "Copied" : `Copy ${label}`}>
          <ActionIcon
            variant="default"
            onClick={copy}
            aria-label={copied ? "Copied" : `Copy ${label}`}
            data-autofocus={focusOnOpen}
          >
            {copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  );
}
