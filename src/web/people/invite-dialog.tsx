import { Button, Group, Modal, Select, Stack, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { UserRole } from "../../../schemas/user.ts";
import { formLevelError, issueAt } from "../account/form-errors.ts";
import { send } from "../api/client.ts";
import { idempotencyHeader } from "../api/queries.ts";
import { useSession } from "../app/session.tsx";
import { useProjects } from "../projects/use-projects.tsx";
import { MAIL_ADDRESS_INPUT } from "../ui/mail-address-input.ts";
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
    <Modal opened onClose={onClose} title="Invite user">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          invite.mutate();
        }}
      >
        <Stack>
          {formError && <ErrorAlert error={formError} />}
          <TextInput
            label="E-mail address"
            {...MAIL_ADDRESS_INPUT}
            required
            data-autofocus
            autoComplete="off"
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
            error={issueAt(invite.error, "email")}
          />
          <Select
            label="Role"
            data={rolesFor(several)}
            description={
              several ? "A member opens only the projects in which they are given a role." : undefined
            }
            value={role}
            onChange={(value) => value !== null && setRole(value)}
            allowDeselect={false}
            error={issueAt(invite.error, "role")}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={invite.isPending}>
              {mail ? "Send invitation" : "Create invitation link"}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
