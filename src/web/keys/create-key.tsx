/** Create New API Key: a name, perhaps an end, what it may do. */
import { Button, Checkbox, Group, Modal, Select, Skeleton, Stack, Text, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { DEFAULT_SCOPES, type Scope } from "./scopes.ts";
import { send } from "../api/client.ts";
import { once } from "../api/queries.ts";
import { useSession } from "../app/session.tsx";
import { besideFields, faultAt } from "../account/fields.ts";
import { Failed } from "../ui/page.tsx";
import { useFocusBack } from "../ui/use-focus-back.ts";
import { useSend } from "../ui/use-send.ts";
import type { NewKey } from "./queries.ts";
import { dayAfter, LIVES, type Life } from "./lives.ts";
import { SCOPE_WORDS } from "./scopes.ts";

const Day = lazy(() => import("./day.tsx"));

interface CreateKeyProps {
  onClose: () => void;
  /** The value is in it this one time. */
  onCreated: (key: NewKey) => void;
}

export function CreateKey({ onClose, onCreated }: CreateKeyProps) {
  useFocusBack();
  const { user } = useSession();
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [life, setLife] = useState<Life>("90 days");
  const [day, setDay] = useState<string | null>(null);
  const [scopes, setScopes] = useState<Scope[]>(DEFAULT_SCOPES.filter((it) => user.scopes.includes(it)));
  // One for each time this is opened: a second click makes no second key.
  const [header] = useState(once);
  const create = useSend({
    mutationFn: () => {
      const expires_at = life === "custom" ? (day ?? "") : dayAfter(life, Date.now());
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
  const other = besideFields(create.error, ["name", "expires_at", "scopes"]);
  return (
    <Modal opened onClose={onClose} title="Create New API Key" size="md">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate();
        }}
      >
        <Stack>
          {other && <Failed error={other} />}
          <TextInput
            label="Name"
            description="What it is for: it stands beside everything that the key does."
            placeholder="ci"
            required
            maxLength={100}
            data-autofocus
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={faultAt(create.error, "name")}
          />
          <Select
            label="Expiration date"
            data={LIVES}
            value={life}
            onChange={(value) => value !== null && setLife(value)}
            allowDeselect={false}
            error={life === "custom" ? undefined : faultAt(create.error, "expires_at")}
          />
          {life === "custom" && (
            <Suspense fallback={<Skeleton height={60} />}>
              <Day value={day} onChange={setDay} error={faultAt(create.error, "expires_at")} />
            </Suspense>
          )}
          <Checkbox.Group
            label="Scopes"
            description="What it may do; never more than you may yourself."
            value={scopes}
            onChange={(chosen) => setScopes(chosen)}
            error={faultAt(create.error, "scopes")}
          >
            <Stack gap={6} mt={6}>
              {user.scopes.map((scope) => (
                <Checkbox
                  key={scope}
                  value={scope}
                  label={scope}
                  description={SCOPE_WORDS[scope]}
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
