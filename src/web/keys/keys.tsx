/** The page "API Keys": the user's own keys and, for admins, everyone's. */
import { ActionIcon, Badge, Button, Card, Group, Menu, Stack, Switch, Table, Text } from "@mantine/core";
import { IconDots, IconPlus, IconRefresh, IconTrash } from "@tabler/icons-react";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useSearchParams } from "react-router";
import type { ApiKey, ApiKeyState } from "../../../schemas/api-key.ts";
import { send } from "../api/client.ts";
import { idempotencyHeader } from "../api/queries.ts";
import { useHasScope, useSession } from "../app/session.tsx";
import { confirmAction } from "../ui/confirm.tsx";
import { notifySuccess, notifyError } from "../ui/notify.ts";
import { PagedList } from "../ui/paged-list.tsx";
import { EmptyState, Page } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { CreateKey } from "./create-key.tsx";
import { apiKeysQuery, type NewKey } from "./queries.ts";
import { RotateKey } from "./rotate-key.tsx";
import { NewKeyDialog } from "./new-key-dialog.tsx";

const STATES: Readonly<Record<ApiKeyState, { color: string; label: string }>> = {
  active: { color: "green", label: "active" },
  expiring: { color: "orange", label: "expires soon" },
  expired: { color: "gray", label: "expired" },
  revoked: { color: "gray", label: "revoked" },
  owner_inactive: { color: "gray", label: "owner deactivated" },
  owner_unknown: { color: "gray", label: "owner unknown" },
};

const isUsable = ({ state }: ApiKey): boolean => state === "active" || state === "expiring";

export default function Keys() {
  const hasScope = useHasScope();
  const [search, setSearch] = useSearchParams();
  const everyone = hasScope("admin") && search.get("everyone") === "true";
  const keys = useInfiniteQuery(apiKeysQuery(everyone));
  const [creating, setCreating] = useState(false);
  const [rotating, setRotating] = useState<ApiKey>();
  const [newKey, setNewKey] = useState<NewKey>();
  return (
    <Page
      title="API Keys"
      about="Agents and scripts send a key with every request. A key can do what its scopes and your role allow."
      actions={
        <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setCreating(true)}>
          Create New API Key
        </Button>
      }
    >
      {hasScope("admin") && (
        <Switch
          label="Show everyone's keys"
          checked={everyone}
          onChange={(event) => setSearch(event.currentTarget.checked ? { everyone: "true" } : {})}
        />
      )}
      <PagedList
        query={keys}
        empty={
          <EmptyState
            title="No keys yet"
            action={<Button onClick={() => setCreating(true)}>Create New API Key</Button>}
          >
            Agents need a key to connect over MCP, and scripts to use the REST API.
          </EmptyState>
        }
      >
        {(items) => <KeyList keys={items} everyone={everyone} onRotate={setRotating} />}
      </PagedList>
      {creating && (
        <CreateKey
          onClose={() => setCreating(false)}
          onCreated={(key) => {
            setCreating(false);
            setNewKey(key);
          }}
        />
      )}
      {rotating && (
        <RotateKey
          apiKey={rotating}
          onClose={() => setRotating(undefined)}
          onRotated={(key) => {
            setRotating(undefined);
            setNewKey(key);
          }}
        />
      )}
      {newKey && <NewKeyDialog newKey={newKey} onClose={() => setNewKey(undefined)} />}
    </Page>
  );
}

interface KeyListProps {
  keys: readonly ApiKey[];
  everyone: boolean;
  onRotate: (key: ApiKey) => void;
}

function KeyList({ keys, everyone, onRotate }: KeyListProps) {
  return (
    <>
      <Table.ScrollContainer minWidth={760} visibleFrom="sm" scrollAreaProps={{ type: "auto" }}>
        <Table verticalSpacing="sm">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Name</Table.Th>
              {everyone && <Table.Th>Owner</Table.Th>}
              <Table.Th>Key</Table.Th>
              <Table.Th>Scopes</Table.Th>
              <Table.Th>Created</Table.Th>
              <Table.Th>Expires</Table.Th>
              <Table.Th>Last used</Table.Th>
              <Table.Th>
                <span className="visually-hidden">Actions</span>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {keys.map((key) => (
              <Table.Tr key={key.id}>
                <Table.Td style={{ overflowWrap: "anywhere" }}>
                  <Group gap="xs">
                    <Text size="sm" fw={600}>
                      {key.name}
                    </Text>
                    <StateBadge state={key.state} />
                  </Group>
                </Table.Td>
                {everyone && <Table.Td>{key.owner}</Table.Td>}
                <Table.Td ff="monospace">…{key.last_four}</Table.Td>
                <Table.Td>{key.scopes.join(", ")}</Table.Td>
                <Table.Td>
                  <Time at={key.created_at} ago />
                </Table.Td>
                <Table.Td>{key.expires_at === null ? "never" : <Time at={key.expires_at} ago />}</Table.Td>
                <Table.Td>
                  {key.last_used_at === null ? "never" : <Time at={key.last_used_at} ago />}
                </Table.Td>
                <Table.Td>
                  <KeyMenu apiKey={key} onRotate={onRotate} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Stack hiddenFrom="sm">
        {keys.map((key) => (
          <Card key={key.id} withBorder padding="sm">
            <Group justify="space-between" wrap="nowrap" align="flex-start">
              <Stack gap={4} style={{ minWidth: 0 }}>
                <Group gap="xs">
                  <Text fw={600} style={{ overflowWrap: "anywhere" }}>
                    {key.name}
                  </Text>
                  <StateBadge state={key.state} />
                </Group>
                <Text size="sm" c="dimmed">
                  <code>…{key.last_four}</code> · {key.scopes.join(", ")}
                  {everyone && ` · ${key.owner}`}
                </Text>
                <Text size="sm" c="dimmed" component="div">
                  Created <Time at={key.created_at} ago />,{" "}
                  {key.expires_at === null ? (
                    "never expires"
                  ) : (
                    <>
                      expires <Time at={key.expires_at} ago />
                    </>
                  )}
                  ,{" "}
                  {key.last_used_at === null ? (
                    "never used"
                  ) : (
                    <>
                      used <Time at={key.last_used_at} ago />
                    </>
                  )}
                </Text>
              </Stack>
              <KeyMenu apiKey={key} onRotate={onRotate} />
            </Group>
          </Card>
        ))}
      </Stack>
    </>
  );
}

function StateBadge({ state }: { state: ApiKeyState }) {
  if (state === "active") return null;
  const { color, label } = STATES[state];
  return (
    <Badge variant="light" color={color} tt="none" styles={{ label: { color: "var(--mantine-color-text)" } }}>
      {label}
    </Badge>
  );
}

function KeyMenu({ apiKey, onRotate }: { apiKey: ApiKey; onRotate: (key: ApiKey) => void }) {
  const { user } = useSession();
  const client = useQueryClient();
  const revoke = useMutation({
    mutationFn: () =>
      send("post", "/api-keys/{key_id}/revoke", {
        path: { key_id: apiKey.id },
        body: {},
        header: idempotencyHeader(),
      }),
    onSuccess: () => {
      notifySuccess(`Key "${apiKey.name}" revoked.`);
      void client.invalidateQueries({ queryKey: ["api-keys"] });
    },
    onError: (error) => notifyError("Couldn't revoke the key", error),
  });
  if (!isUsable(apiKey)) return null;
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={`Actions for the key ${apiKey.name}`}
          loading={revoke.isPending}
        >
          <IconDots size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {apiKey.owner === user.email && (
          <Menu.Item leftSection={<IconRefresh size={16} aria-hidden />} onClick={() => onRotate(apiKey)}>
            Rotate…
          </Menu.Item>
        )}
        <Menu.Item
          color="red"
          leftSection={<IconTrash size={16} aria-hidden />}
          onClick={() =>
            confirmAction({
              title: `Revoke the key "${apiKey.name}"?`,
              consequence: `Requests with the key that ends in ${apiKey.last_four} are refused from now on. You can't undo this.`,
              confirm: "Revoke",
              onConfirm: () => revoke.mutate(),
            })
          }
        >
          Revoke…
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
