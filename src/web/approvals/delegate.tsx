/** Passes an approval on to another person, who decides in the place of the current user. */
import { Button, Group, Modal, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { IconUserShare } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Approval } from "../../../schemas/approval.ts";
import { ApiError, send } from "../api/client.ts";
import { issuesOutside, issuesUnder, issueText } from "../forms/issues.ts";
import { useIdempotencyHeader } from "../runs/use-idempotency-header.ts";
import { MAIL_ADDRESS_INPUT } from "../ui/mail-address-input.ts";
import { notifySuccess } from "../ui/notify.ts";
import { ErrorAlert } from "../ui/page.tsx";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";

const MAX_NOTE_CHARS = 1_000;

export function Delegate({ approval }: { approval: Approval }) {
  const [opened, setOpened] = useState(false);
  if (approval.you?.for !== undefined) return null;
  return (
    <Group>
      <Button
        variant="subtle"
        size="compact-sm"
        leftSection={<IconUserShare size={16} aria-hidden />}
        onClick={() => setOpened(true)}
      >
        Pass on to somebody else
      </Button>
      <Modal opened={opened} onClose={() => setOpened(false)} title="Pass on the approval">
        <DelegateForm approval={approval} close={() => setOpened(false)} />
      </Modal>
    </Group>
  );
}

function DelegateForm({ approval: { id }, close }: { approval: Approval; close: () => void }) {
  const client = useQueryClient();
  const idempotencyHeaderFor = useIdempotencyHeader();
  const [to, setTo] = useState("");
  const [note, setNote] = useState("");
  const pass = useSingleFlightMutation({
    mutationFn: () => {
      const body = { to: to.trim(), ...(note.trim() !== "" && { note: note.trim() }) };
      return send("post", "/approvals/{approval_id}/delegate", {
        path: { approval_id: id },
        body,
        header: idempotencyHeaderFor(body),
      });
    },
    onSuccess: () => {
      notifySuccess(`Passed on to ${to.trim()}.`);
      close();
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["approvals"] }),
  });
  const issues = pass.error instanceof ApiError ? (pass.error.problem.errors ?? []) : [];
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        pass.mutate();
      }}
    >
      <Stack>
        <Text size="sm">
          The person gets a mail and decides in your place. You can&apos;t decide any more then.
        </Text>
        <TextInput
          label="E-mail address"
          {...MAIL_ADDRESS_INPUT}
          required
          data-autofocus
          value={to}
          onChange={(event) => setTo(event.currentTarget.value)}
          error={issueText(issuesUnder(issues, "to"))}
        />
        <Textarea
          label="Note"
          description="Optional. The person reads it."
          autosize
          minRows={2}
          maxLength={MAX_NOTE_CHARS}
          value={note}
          onChange={(event) => setNote(event.currentTarget.value)}
          error={issueText(issuesUnder(issues, "note"))}
        />
        {pass.error !== null && (issues.length === 0 || issuesOutside(issues, ["to", "note"]).length > 0) && (
          <ErrorAlert error={pass.error} />
        )}
        <Group>
          <Button type="submit" loading={pass.isPending}>
            Pass on
          </Button>
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
