/** Create New API Key: a name, perhaps an end, what it may do. */
import { Button, Checkbox, Group, Modal, Select, Skeleton, Stack, Text, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { DEFAULT_SCOPES, type Scope } from "./scopes.ts";
import { send } from "../api/client.ts";
import { idempotencyHeader } from "../api/queries.ts";
import { useSession } from "../app/session.tsx";
import { formLevelError, issueAt } from "../account/form-errors.ts";
import { ErrorAlert } from "../ui/page.tsx";
import { useRestoreFocus } from "../ui/use-restore-focus.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import type { NewKey } from "./queries.ts";
import { expiryDate, EXPIRY_OPTIONS, type ExpiryOption } from "./expiry-options.ts";
import { SCOPE_DESCRIPTIONS } from "./scopes.ts";

const Day = lazy(() => import("./expiry-date-picker.tsx"));

interface CreateKeyProps {
  onClose: () => void;
  /** The value is in it this one time. */
  onCreated: (key: NewKey) => void;
}

export function CreateKey({ onClose, onCreated }: CreateKeyProps) {
  useRestoreFocus();
  const { user } = useSession();
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [life, setLife] = useState<ExpiryOption>("90 days");
  const [day, setDay] = useState<string | null>(null);
  const [scopes, setScopes] = useState<Scope[]>(DEFAULT_SCOPES.filter((it) => user.scopes.includes(it)));
  // One for each time this is opened: a second click makes no second key.
  const [header] = useState(idempotencyHeader);
  const create = useSingleFlightMutation({
    mutationFn: () => {
      const expires_at = life === "custom" ? (day ?? "") : expiryDate(life, Date.now());
      return send("post", "/api-keys", {
        body: { name, scopes, ...(expires_at !== undefined && { expires_at }) },
        header,
      });
    },
    onSuccess: ({ data }) => {
      void client.invalidateQueries({ queryKey: ["api-keys"] });
      onCreated(data);
    },
  });
  const other = formLevelError(create.error, ["name", "expires_at", "scopes"]);
  return (
    <Modal opened onClose={onClose} title="Create New API Key" size="md">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate();
        }}
      >
        <Stack>
          {other && <ErrorAlert error={other} />}
          <TextInput
            label="Name"
            description="What it is for: it stands beside everything that the key does."
            placeholder="ci"
            required
            maxLength={100}
            data-autofocus
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={issueAt(create.error, "name")}
          />
          <Select
            label="Expiration date"
            data={EXPIRY_OPTIONS}
            value={life}
            onChange={(value) => value !== null && setLife(value)}
            allowDeselect={false}
            error={life === "custom" ? undefined : issueAt(create.error, "expires_at")}
          />
          {life === "custom" && (
            <Suspense fallback={<Skeleton height={60} />}>
              <Day value={day} onChange={setDay} error={issueAt(create.error, "expires_at")} />
            </Suspense>
          )}
          <Checkbox.Group
            label="Scopes"
            description="What it may do; never more than you may yourself."
            value={scopes}
            onChange={(chosen) => setScopes(chosen)}
            error={issueAt(create.error, "scopes")}
          >
            <Stack gap={6} mt={6}>
              {user.scopes.map((scope) => (
                <Checkbox
                  key={scope}
                  value={scope}
                  label={scope}
                  description={SCOPE_DESCRIPTIONS[scope]}
                  disabled={scope === "read"}
                />
              ))}
            </Stack>
          </Checkbox.Group>
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={create.isPending} disabled={life === "custom" && day === null}>
              Create
            </Button>
          </Group>
          <Text size="xs" c="dimmed">
            The key is shown once, right after this.
          </Text>
        </Stack>
      </form>
    </Modal>
  );
}
