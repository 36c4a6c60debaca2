import { Button, Group, Modal, Select, Stack, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Role } from "../../../schemas/user.ts";
import { besideFields, faultAt } from "../account/fields.ts";
import { send } from "../api/client.ts";
import { once } from "../api/queries.ts";
import { useSession } from "../app/session.tsx";
import { Failed } from "../ui/page.tsx";
import { useFocusBack } from "../ui/use-focus-back.ts";
import { useSend } from "../ui/use-send.ts";
import type { Handed } from "./hand-on.tsx";
import { ROLES } from "./roles.ts";

/** Invites somebody: an address, and what they may do. */
export function Invite({ onClose, onInvited }: { onClose: () => void; onInvited: (handed: Handed) => void }) {
  useFocusBack();
  const { mail } = useSession();
  const client = useQueryClient();
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("editor");
  const [header] = useState(once);
  const invite = useSend({
    mutationFn: () => send("post", "/users", { body: { email, role }, header }),
    onSuccess: ({ data }) => {
      void client.invalidateQueries({ queryKey: ["users"] });
      onInvited({ email: data.user.email, kind: "invitation", sent: data.sent, link: data.link });
    },
  });
  const other = besideFields(invite.error, ["email", "role"]);
  return (
    <Modal opened onClose={onClose} title="Invite somebody">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          invite.mutate();
        }}
      >
        <Stack>
          {other && <Failed error={other} />}
          <TextInput
            label="E-mail address"
            type="email"
            required
            data-autofocus
            autoComplete="off"
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
            error={faultAt(invite.error, "email")}
          />
          <Select
            label="Role"
            data={ROLES}
            value={role}
            onChange={(value) => value !== null && setRole(value)}
            allowDeselect={false}
            error={faultAt(invite.error, "role")}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={invite.isPending}>
              {mail ? "Send the invitation" : "Make the invitation"}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
