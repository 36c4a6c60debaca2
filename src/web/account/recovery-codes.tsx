/** Recovery codes, which the page shows once. */
import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import * as texts from "#texts/account";
import { Snippet } from "../ui/copy.tsx";

export function RecoveryCodes({
  codes,
  email,
  onSaved,
}: {
  codes: readonly string[];
  email: string;
  onSaved: () => void;
}) {
  const text = codes.join("\n");
  const file = `${texts.codesFile({ email, host: location.host })}\n\n${text}\n`;
  return (
    <Stack>
      <Alert color="yellow" title={texts.saveCodes}>
        {texts.saveCodesHelp}
      </Alert>
      <Snippet text={text} label={texts.codesLabel} />
      <Group justify="space-between">
        <Button
          component="a"
          href={`data:text/plain;charset=utf-8,${encodeURIComponent(file)}`}
          download="millrace-recovery-codes.txt"
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
        >
          {texts.download}
        </Button>
        <Button onClick={onSaved}>{texts.codesSaved}</Button>
      </Group>
      <Text size="sm" c="dimmed">
        {texts.keepCodes}
      </Text>
    </Stack>
  );
}
