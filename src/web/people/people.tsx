/** The page "People": users, their roles and invitations. For admins. */
import { ActionIcon, Badge, Button, Card, Group, Menu, Select, Stack, Text, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconDots, IconPlus, IconSearch } from "@tabler/icons-react";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import * as texts from "#texts/people";
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
  if (!hasScope("admin")) return <AccessDenied title={texts.title} />;
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
      title={texts.title}
      about={[
        texts.aboutRoles,
        ...(several ? [texts.aboutProjects] : []),
        ...(mode === "built-in" ? [] : [texts.aboutProvider]),
      ].join(" ")}
      actions={
        mode === "built-in" && (
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setInviting(true)}>
            {texts.invite}
          </Button>
        )
      }
    >
      <Group align="flex-end">
        <TextInput
          label={texts.search}
          placeholder={texts.searchPlaceholder}
          leftSection={<IconSearch size={16} aria-hidden />}
          defaultValue={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
        <Select
          label={texts.status}
          placeholder={texts.allStatuses}
          clearable
          clearButtonProps={{ "aria-label": texts.clearStatus }}
          data={STATUSES.map((value) => ({ value, label: texts.statusName({ status: value }) }))}
          value={status ?? null}
          onChange={(value) => setFilter("status", value ?? "")}
        />
      </Group>
      <PagedList query={users} empty={<EmptyState title={texts.emptyTitle}>{texts.emptyHelp}</EmptyState>}>
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
            if (invitation.sent) notifySuccess(texts.invitationSent({ email: invitation.email }));
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
      notifySuccess(texts.updated(data));
      refresh();
      if (user.id === me.id) void client.invalidateQueries({ queryKey: ["session"] });
    },
    onError: (error) => notifyError(texts.changeFailed(user), error),
  });
  const link = useMutation({
    mutationFn: (kind: "invitation" | "password-reset") =>
      send("post", `/users/{user_id}/${kind}`, {
        path: { user_id: user.id },
        body: {},
        header: idempotencyHeader(),
      }),
    onSuccess: ({ data }, kind) => {
      if (data.sent) notifySuccess(texts.mailSent(user));
      else
        onLinkCreated({ email: user.email, kind: kind === "invitation" ? "invitation" : "reset", ...data });
    },
    onError: (error) => notifyError(texts.linkFailed, error),
  });
  const resetFactors = useMutation({
    mutationFn: () =>
      send("post", "/users/{user_id}/reset-factors", {
        path: { user_id: user.id },
        body: {},
        header: idempotencyHeader(),
      }),
    onSuccess: () => {
      notifySuccess(texts.factorsReset(user));
      refresh();
    },
    onError: (error) => notifyError(texts.factorsResetFailed(user), error),
  });
  return (
    <Card withBorder padding="sm">
      <Group justify="space-between">
        <Stack gap={2} flex="1 1 220px" miw={0}>
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
                {texts.statusName(user)}
              </Badge>
            )}
            {hasPassword && user.second_factor && (
              <Badge
                variant="light"
                tt="none"
                color="gray"
                styles={{ label: { color: "var(--mantine-color-text)" } }}
              >
                {texts.twoFactor}
              </Badge>
            )}
            {user.id === me.id && (
              <Badge variant="light" tt="none">
                {texts.you}
              </Badge>
            )}
          </Group>
          <Text size="sm" c="dimmed" component="div">
            {user.last_login_at === null
              ? texts.invitedBy({ by: user.created_by, ago: <Time at={user.created_at} ago /> })
              : texts.lastSignedIn({ ago: <Time at={user.last_login_at} ago /> })}
            {hasProviderRole && <span id={`role-of-${user.id}`}> · {texts.roleFromProvider}</span>}
          </Text>
        </Stack>
        <Group gap="xs" wrap="nowrap">
          <Select
            aria-label={texts.roleOf(user)}
            data={user.role === "member" ? rolesFor(true) : rolesFor(several)}
            value={user.role}
            onChange={(role) => role !== null && role !== user.role && update.mutate({ role })}
            allowDeselect={false}
            w={130}
            disabled={update.isPending || user.status === "deactivated" || hasProviderRole}
            aria-describedby={hasProviderRole ? `role-of-${user.id}` : undefined}
          />
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon variant="subtle" color="gray" aria-label={texts.actionsFor(user)}>
                <IconDots size={18} aria-hidden />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              {hasPassword && user.status === "invited" && (
                <Menu.Item onClick={() => link.mutate("invitation")}>{texts.resendInvitation}</Menu.Item>
              )}
              {hasPassword && user.status === "active" && (
                <Menu.Item onClick={() => link.mutate("password-reset")}>{texts.passwordResetLink}</Menu.Item>
              )}
              {hasPassword && user.second_factor && user.id !== me.id && (
                <Menu.Item
                  color="red"
                  onClick={() =>
                    confirmAction({
                      title: texts.resetFactorsTitle(user),
                      consequence: texts.resetFactorsConsequence,
                      confirm: texts.resetFactorsConfirm,
                      onConfirm: () => resetFactors.mutate(),
                    })
                  }
                >
                  {texts.resetFactors}
                </Menu.Item>
              )}
              {user.status === "deactivated" ? (
                <Menu.Item onClick={() => update.mutate({ status: "active" })}>{texts.reactivate}</Menu.Item>
              ) : (
                <Menu.Item
                  color="red"
                  onClick={() =>
                    confirmAction({
                      title: texts.deactivateTitle(user),
                      consequence: texts.deactivateConsequence,
                      confirm: texts.deactivateConfirm,
                      onConfirm: () => update.mutate({ status: "deactivated" }),
                    })
                  }
                >
                  {texts.deactivate}
                </Menu.Item>
              )}
            </Menu.Dropdown>
          </Menu>
        </Group>
      </Group>
    </Card>
  );
}
