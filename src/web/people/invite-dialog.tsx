import { Button, Group, Modal, Select, Stack, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import * as texts from "#texts/people";
import * as uiTexts from "#texts/ui";
import type { UserRole } from "../../../schemas/user.ts";
import { formLevelError, issueAt } from "../account/form-errors.ts";
import { send } from "../api/client.ts";
import { idempotencyHeader } from "../api/queries.ts";
import { useSession } from "../app/session.tsx";
import { useProjects } from "../projects/use-projects.tsx";
import { ErrorAlert } from "../ui/page.tsx";
import { useRestoreFocus } from "../ui/use-restore-focus.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import type { ShareableLink } from "./share-link.tsx";
import { rolesFor } from "./roles.ts";

/** The dialog to invite a user by e-mail address, with a role. */
export function InviteDialog({
  onClose,
  onInvited,
}: {
  onClose: () => void;
  onInvited: (invitation: ShareableLink) => void;
}) {
  useRestoreFocus();
  const { mail } = useSession();
  const { several } = useProjects();
  const client = useQueryClient();
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<UserRole>("editor");
  const [header] = useState(idempotencyHeader);
  const invite = useSingleFlightMutation({
    mutationFn: () => send("post", "/users", { body: { email, role }, header }),
    onSuccess: ({ data }) => {
      void client.invalidateQueries({ queryKey: ["users"] });
      onInvited({ email: data.user.email, kind: "invitation", sent: data.sent, link: data.link });
    },
  });
  const formError = formLevelError(invite.error, ["email", "role"]);
  return (
    <Modal opened onClose={onClose} title={texts.invite}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          invite.mutate();
        }}
      >
        <Stack>
          {formError && <ErrorAlert error={formError} />}
          <TextInput
            label={texts.email}
            type="email"
            required
            data-autofocus
            autoComplete="off"
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
            error={issueAt(invite.error, "email")}
          />
          <Select
            label={texts.role}
            data={rolesFor(several)}
            description={several ? texts.memberHelp : undefined}
            value={role}
            onChange={(value) => value !== null && setRole(value)}
            allowDeselect={false}
            error={issueAt(invite.error, "role")}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {uiTexts.cancel}
            </Button>
            <Button type="submit" loading={invite.isPending}>
              {mail ? texts.sendInvitation : texts.createLink}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
