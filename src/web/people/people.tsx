/** The page "People": users, their roles and invitations. For admins. */
import { ActionIcon, Badge, Button, Card, Group, Menu, Select, Stack, Text, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconDots, IconPlus, IconSearch } from "@tabler/icons-react";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { UserRole, User, UserStatus } from "../../../schemas/user.ts";
import { send } from "../api/client.ts";
import { idempotencyHeader } from "../api/queries.ts";
import { useHasScope, useSession } from "../app/session.tsx";
import { useProjects } from "../projects/use-projects.tsx";
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
import { rolesFor } from "./roles.ts";

const STATUSES: readonly UserStatus[] = ["active", "invited", "deactivated"];

export default function People() {
  const hasScope = useHasScope();
  if (!hasScope("admin")) return <AccessDenied title="People" />;
  return <UserList />;
}

function UserList() {
  const { mode } = useSession();
  const { several } = useProjects();
  const [params, setFilter] = useFilters();
  const [inviting, setInviting] = useState(false);
  const [sharedLink, setSharedLink] = useState<ShareableLink>();
  const search = params.get("search") ?? "";
  const status = STATUSES.find((known) => known === params.get("status"));
  const users = useInfiniteQuery({
    queryKey: ["users", { search, status }],
    queryFn: ({ pageParam, signal }) =>
      send("get", "/users", {
        query: {
          limit: 50,
          ...(search && { search }),
          ...(status && { status }),
          ...cursorParam(pageParam),
        },
        signal,
      }),
    ...cursorPagination,
  });
  const setSearch = useDebouncedCallback((value: string) => setFilter("search", value.trim()), 300);
  return (
    <Page
      title="People"
      about={`Viewers can read. Editors can also write, run and approve. Admins can do everything.${
        several
          ? " In a project beside the default one, people have the role that is set on its own page. A member has no role here, and opens only those projects."
          : ""
      }${
        mode === "built-in" ? "" : " People appear here after they first sign in at the identity provider."
      }`}
      actions={
        mode === "built-in" && (
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setInviting(true)}>
            Invite user
          </Button>
        )
      }
    >
      <Group align="flex-end">
        <TextInput
          label="Search"
          placeholder="Part of an e-mail address"
          leftSection={<IconSearch size={16} aria-hidden />}
          defaultValue={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
        <Select
          label="Status"
          placeholder="All"
          clearable
          clearButtonProps={{ "aria-label": "Clear status" }}
          data={[...STATUSES]}
          value={status ?? null}
          onChange={(value) => setFilter("status", value ?? "")}
        />
      </Group>
      <PagedList
        query={users}
        empty={<EmptyState title="No matching people">Change the search or the status.</EmptyState>}
      >
        {(items) => (
          <Stack gap="xs" component="ul" p={0} m={0} style={{ listStyle: "none" }}>
            {items.map((user) => (
              <li key={user.id}>
                <UserCard user={user} onLinkCreated={setSharedLink} />
              </li>
            ))}
          </Stack>
        )}
      </PagedList>
      {inviting && (
        <InviteDialog
          onClose={() => setInviting(false)}
          onInvited={(invitation) => {
            setInviting(false);
            if (invitation.sent) notifySuccess(`Invitation sent to ${invitation.email}.`);
            else setSharedLink(invitation);
          }}
        />
      )}
      {sharedLink && <ShareLinkDialog sharedLink={sharedLink} onClose={() => setSharedLink(undefined)} />}
    </Page>
  );
}

const STATUS_COLORS: Readonly<Record<UserStatus, string>> = {
  active: "green",
  invited: "yellow",
  deactivated: "gray",
};

function UserCard({ user, onLinkCreated }: { user: User; onLinkCreated: (link: ShareableLink) => void }) {
  const { user: me, mode } = useSession();
  const { several } = useProjects();
  const hasPassword = mode === "built-in";
  const hasProviderRole = !hasPassword && user.role_by === "sign_on";
  const client = useQueryClient();
  const refresh = () => void client.invalidateQueries({ queryKey: ["users"] });
  const update = useMutation({
    mutationFn: (change: { role?: UserRole; status?: "active" | "deactivated" }) =>
      send("patch", "/users/{user_id}", { path: { user_id: user.id }, body: change }),
    onSuccess: ({ data }) => {
      notifySuccess(`Updated ${data.email}: ${data.role}, ${data.status}.`);
      refresh();
      if (user.id === me.id) void client.invalidateQueries({ queryKey: ["session"] });
    },
    onError: (error) => notifyError(`Couldn't change ${user.email}`, error),
  });
  const link = useMutation({
    mutationFn: (kind: "invitation" | "password-reset") =>
      send("post", `/users/{user_id}/${kind}`, {
        path: { user_id: user.id },
        body: {},
        header: idempotencyHeader(),
      }),
    onSuccess: ({ data }, kind) => {
      if (data.sent) notifySuccess(`E-mail sent to ${user.email}.`);
      else
        onLinkCreated({ email: user.email, kind: kind === "invitation" ? "invitation" : "reset", ...data });
    },
    onError: (error) => notifyError("Couldn't create the link", error),
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
                color={STATUS_COLORS[user.status]}
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
            {hasProviderRole && <span id={`role-of-${user.id}`}> · role set by the identity provider</span>}
          </Text>
        </Stack>
        <Group gap="xs" wrap="nowrap">
          <Select
            aria-label={`Role of ${user.email}`}
            data={user.role === "member" ? rolesFor(true) : rolesFor(several)}
            value={user.role}
            onChange={(role) => role !== null && role !== user.role && update.mutate({ role })}
            allowDeselect={false}
            w={110}
            disabled={update.isPending || user.status === "deactivated" || hasProviderRole}
            aria-describedby={hasProviderRole ? `role-of-${user.id}` : undefined}
          />
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${user.email}`}>
                <IconDots size={18} aria-hidden />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              {hasPassword && user.status === "invited" && (
                <Menu.Item onClick={() => link.mutate("invitation")}>Resend invitation</Menu.Item>
              )}
              {hasPassword && user.status === "active" && (
                <Menu.Item onClick={() => link.mutate("password-reset")}>Password reset link</Menu.Item>
              )}
              {user.status === "deactivated" ? (
                <Menu.Item onClick={() => update.mutate({ status: "active" })}>Reactivate</Menu.Item>
              ) : (
                <Menu.Item
                  color="red"
                  onClick={() =>
                    confirmAction({
                      title: `Deactivate ${user.email}?`,
                      consequence:
                        "Their sessions end now and their API keys stop working. Their workflows and runs stay. You can reactivate them later.",
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
