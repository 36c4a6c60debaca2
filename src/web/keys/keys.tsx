/** The page "API Keys": the user's own keys and connected applications and, for admins, everyone's. */
import { ActionIcon, Anchor, Button, Card, Group, Menu, Stack, Switch, Table, Text } from "@mantine/core";
import { IconDots, IconHistory, IconPlus, IconRefresh, IconTrash } from "@tabler/icons-react";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useSearchParams } from "react-router";
import type { ApiKey } from "../../../schemas/api-key.ts";
import { send } from "../api/client.ts";
import { idempotencyHeader } from "../api/queries.ts";
import { useHasScope, useSession } from "../app/session.tsx";
import { confirmAction } from "../ui/confirm.tsx";
import { notifySuccess, notifyError } from "../ui/notify.ts";
import { PagedList } from "../ui/paged-list.tsx";
import { EmptyState, Page } from "../ui/page.tsx";
import { formatTotal } from "../ui/pagination.ts";
import { Time } from "../ui/time.tsx";
import { isUsable } from "./application-groups.ts";
import { Applications } from "./applications.tsx";
import { CreateKey } from "./create-key.tsx";
import { KeyAreaText } from "./key-area-text.tsx";
import { apiKeysQuery, type NewKey } from "./queries.ts";
import { RotateKey } from "./rotate-key.tsx";
import { NewKeyDialog } from "./new-key-dialog.tsx";
import { StateBadge } from "./state-badge.tsx";

export default function Keys() {
  const hasScope = useHasScope();
  const [search, setSearch] = useSearchParams();
  const everyone = hasScope("admin") && search.get("everyone") === "true";
  const keys = useInfiniteQuery(apiKeysQuery({ everyone, application: false }));
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
          <NoKeys
            everyone={everyone}
            onCreate={() => setCreating(true)}
            onShowAll={() => setSearch({ everyone: "true" })}
          />
        }
      >
        {(items) => <KeyList keys={items} everyone={everyone} onRotate={setRotating} />}
      </PagedList>
      {/* Not beside an error of the keys: both come from the same place, and one message is enough. */}
      {keys.isSuccess && <Applications everyone={everyone} />}
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

interface NoKeysProps {
  everyone: boolean;
  onCreate: () => void;
  onShowAll: () => void;
}

/** Mentions the keys of others to an admin, such as those that the command line created. */
function NoKeys({ everyone, onCreate, onShowAll }: NoKeysProps) {
  const hasScope = useHasScope();
  const all = useInfiniteQuery({
    ...apiKeysQuery({ everyone: true, application: false }),
    enabled: hasScope("admin") && !everyone,
  });
  const first = everyone ? undefined : all.data?.pages[0];
  const others = first?.total ?? 0;
  return (
    <EmptyState
      title={everyone ? "No keys yet" : "You have no keys"}
      action={
        <Group justify="center" gap="xs">
          <Button onClick={onCreate}>Create New API Key</Button>
          {others > 0 && (
            <Button variant="default" onClick={onShowAll}>
              Show everyone's keys
            </Button>
          )}
        </Group>
      }
    >
      Agents need a key to connect over MCP, and scripts to use the REST API.
      {others > 0 && ` ${others === 1 ? "1 key belongs" : `${formatTotal(first)} keys belong`} to others.`}
    </EmptyState>
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
                    <Anchor component={Link} to={`/keys/${key.id}`} size="sm" fw={600}>
                      {key.name}
                    </Anchor>
                    <StateBadge state={key.state} />
                  </Group>
                </Table.Td>
                {everyone && <Table.Td>{key.owner}</Table.Td>}
                <Table.Td ff="monospace">…{key.last_four}</Table.Td>
                <Table.Td>
                  {key.scopes.join(", ")}
                  <KeyAreaText apiKey={key} />
                </Table.Td>
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
                  <Anchor
                    component={Link}
                    to={`/keys/${key.id}`}
                    fw={600}
                    style={{ overflowWrap: "anywhere" }}
                  >
                    {key.name}
                  </Anchor>
                  <StateBadge state={key.state} />
                </Group>
                <Text size="sm" c="dimmed">
                  <code>…{key.last_four}</code> · {key.scopes.join(", ")}
                  {everyone && ` · ${key.owner}`}
                </Text>
                <KeyAreaText apiKey={key} />
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
        <Menu.Item
          component={Link}
          to={`/keys/${encodeURIComponent(apiKey.id)}/changes`}
          leftSection={<IconHistory size={16} aria-hidden />}
        >
          Changes
        </Menu.Item>
        {isUsable(apiKey) && apiKey.owner === user.email && (
          <Menu.Item leftSection={<IconRefresh size={16} aria-hidden />} onClick={() => onRotate(apiKey)}>
            Rotate…
          </Menu.Item>
        )}
        {isUsable(apiKey) && (
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
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
