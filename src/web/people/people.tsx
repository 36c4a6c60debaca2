/** People: who may come in, and what each may do. For admins. */
import { ActionIcon, Badge, Button, Card, Group, Menu, Select, Stack, Text, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconDots, IconPlus, IconSearch } from "@tabler/icons-react";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Role, User, UserStatus } from "../../../schemas/user.ts";
import { send } from "../api/client.ts";
import { idempotencyHeader } from "../api/queries.ts";
import { useHasScope, useSession } from "../app/session.tsx";
import { confirmAction } from "../ui/confirm.tsx";
import { PagedList } from "../ui/paged-list.tsx";
import { AccessDenied } from "../ui/access-denied.tsx";
import { notifySuccess, notifyError } from "../ui/notify.ts";
import { EmptyState, Page } from "../ui/page.tsx";
import { cursorPagination, cursorParam } from "../ui/pagination.ts";
import { Time } from "../ui/time.tsx";
import { useFilters } from "../ui/use-filters.ts";
import { ShareLinkDialog, type ShareableLink } from "./share-link.tsx";
import { InviteDialog } from "./invite-dialog.tsx";
import { ROLES } from "./roles.ts";

const STATUSES: readonly UserStatus[] = ["active", "invited", "deactivated"];

export default function People() {
  const may = useHasScope();
  if (!may("admin")) return <AccessDenied title="People" />;
  return <Everybody />;
}

function Everybody() {
  const { mode } = useSession();
  const [search, put] = useFilters();
  const [inviting, setInviting] = useState(false);
  const [handed, setHanded] = useState<ShareableLink>();
  const words = search.get("search") ?? "";
  const status = STATUSES.find((it) => it === search.get("status"));
  const people = useInfiniteQuery({
    queryKey: ["users", { words, status }],
    queryFn: ({ pageParam, signal }) =>
      send("get", "/users", {
        query: {
          limit: 50,
          ...(words && { search: words }),
          ...(status && { status }),
          ...cursorParam(pageParam),
        },
        signal,
      }),
    ...cursorPagination,
  });
  const putWords = useDebouncedCallback((value: string) => put("search", value.trim()), 300);
  return (
    <Page
      title="People"
      about={`A viewer reads; an editor also writes, runs and approves; an admin does everything.${
        mode === "built-in"
          ? ""
          : " People come in through the identity provider, and appear here when they first sign in."
      }`}
      actions={
        mode === "built-in" && (
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setInviting(true)}>
            Invite somebody
          </Button>
        )
      }
    >
      <Group align="flex-end">
        <TextInput
          label="Search"
          placeholder="A part of the address"
          leftSection={<IconSearch size={16} aria-hidden />}
          defaultValue={words}
          onChange={(event) => putWords(event.currentTarget.value)}
        />
        <Select
          label="Status"
          placeholder="All"
          clearable
          clearButtonProps={{ "aria-label": "All statuses" }}
          data={[...STATUSES]}
          value={status ?? null}
          onChange={(value) => put("status", value ?? "")}
        />
      </Group>
      <PagedList
        query={people}
        empty={<EmptyState title="Nobody matches">Look for another part of the address.</EmptyState>}
      >
        {(items) => (
          <Stack gap="xs" component="ul" p={0} m={0} style={{ listStyle: "none" }}>
            {items.map((user) => (
              <li key={user.id}>
                <Person user={user} onHanded={setHanded} />
              </li>
            ))}
          </Stack>
        )}
      </PagedList>
      {inviting && (
        <InviteDialog
          onClose={() => setInviting(false)}
          onInvited={(given) => {
            setInviting(false);
            if (given.sent) notifySuccess(`An invitation is on its way to ${given.email}.`);
            else setHanded(given);
          }}
        />
      )}
      {handed && <ShareLinkDialog handed={handed} onClose={() => setHanded(undefined)} />}
    </Page>
  );
}

const COLORS: Readonly<Record<UserStatus, string>> = {
  active: "green",
  invited: "yellow",
  deactivated: "gray",
};

function Person({ user, onHanded }: { user: User; onHanded: (handed: ShareableLink) => void }) {
  const { user: me, mode } = useSession();
  const hasPassword = mode === "built-in";
  const isGiven = !hasPassword && user.role_by === "sign_on";
  const client = useQueryClient();
  const refresh = () => void client.invalidateQueries({ queryKey: ["users"] });
  const update = useMutation({
    mutationFn: (change: { role?: Role; status?: "active" | "deactivated" }) =>
      send("patch", "/users/{user_id}", { path: { user_id: user.id }, body: change }),
    onSuccess: ({ data }) => {
      notifySuccess(`${data.email}: ${data.role}, ${data.status}.`);
      refresh();
      if (user.id === me.id) void client.invalidateQueries({ queryKey: ["session"] });
    },
    onError: (error) => notifyError(`${user.email} was not changed`, error),
  });
  const link = useMutation({
    mutationFn: (kind: "invitation" | "password-reset") =>
      send("post", `/users/{user_id}/${kind}`, {
        path: { user_id: user.id },
        body: {},
        header: idempotencyHeader(),
      }),
    onSuccess: ({ data }, kind) => {
      if (data.sent) notifySuccess(`A mail is on its way to ${user.email}.`);
      else onHanded({ email: user.email, kind: kind === "invitation" ? "invitation" : "reset", ...data });
    },
    onError: (error) => notifyError("No link was made", error),
  });
  return (
    <Card withBorder padding="sm">
      <Group justify="space-between" wrap="nowrap">
        <Stack gap={2} style={{ minWidth: 0 }}>
          <Group gap="xs">
            <Text fw={600} style={{ overflowWrap: "anywhere" }}>
              {user.email}
            </Text>
            {user.status !== "active" && (
              <Badge
                variant="light"
                color={COLORS[user.status]}
                tt="none"
                styles={{ label: { color: "var(--mantine-color-text)" } }}
              >
                {user.status}
              </Badge>
            )}
            {user.id === me.id && (
              <Badge variant="light" tt="none">
                you
              </Badge>
            )}
          </Group>
          <Text size="sm" c="dimmed" component="div">
            {user.last_login_at === null ? (
              <>
                invited by {user.created_by} <Time at={user.created_at} ago />
              </>
            ) : (
              <>
                last signed in <Time at={user.last_login_at} ago />
              </>
            )}
            {isGiven && <span id={`role-of-${user.id}`}> · the identity provider decides the role</span>}
          </Text>
        </Stack>
        <Group gap="xs" wrap="nowrap">
          <Select
            aria-label={`Role of ${user.email}`}
            data={ROLES}
            value={user.role}
            onChange={(role) => role !== null && role !== user.role && update.mutate({ role })}
            allowDeselect={false}
            w={110}
            disabled={update.isPending || user.status === "deactivated" || isGiven}
            aria-describedby={isGiven ? `role-of-${user.id}` : undefined}
          />
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${user.email}`}>
                <IconDots size={18} aria-hidden />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              {hasPassword && user.status === "invited" && (
                <Menu.Item onClick={() => link.mutate("invitation")}>Invite again</Menu.Item>
              )}
              {hasPassword && user.status === "active" && (
                <Menu.Item onClick={() => link.mutate("password-reset")}>Link for a new password</Menu.Item>
              )}
              {user.status === "deactivated" ? (
                <Menu.Item onClick={() => update.mutate({ status: "active" })}>Let back in</Menu.Item>
              ) : (
                <Menu.Item
                  color="red"
                  onClick={() =>
                    confirmAction({
                      title: `Deactivate ${user.email}?`,
                      consequence:
                        "Their sessions end now, and their API keys stop working. What they made stays. You can let them back in.",
                      confirm: "Deactivate",
                      onConfirm: () => update.mutate({ status: "deactivated" }),
                    })
                  }
                >
                  Deactivate…
                </Menu.Item>
              )}
            </Menu.Dropdown>
          </Menu>
        </Group>
      </Group>
    </Card>
  );
}
