/** The frame of every page: header, navigation and user menu. */
import {
  AppShell,
  Badge,
  Burger,
  Button,
  Group,
  Menu,
  NavLink,
  ScrollArea,
  Text,
  UnstyledButton,
  useMantineColorScheme,
} from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import {
  IconApi,
  IconChevronDown,
  IconFolders,
  IconKey,
  IconLogout,
  IconMoon,
  IconSun,
  IconUser,
} from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect } from "react";
import { Link, useLocation } from "react-router";
import { serverPath } from "./base-path.ts";
import { ConnectionBanner } from "./connection-banner.tsx";
import { REVIEWS_PATH, useNavItems } from "./nav-items.ts";
import { send } from "../api/client.ts";
import { usePendingApprovals } from "../approvals/use-pending-approvals.ts";
import { Find } from "../find/find.tsx";
import { ProjectSwitcher } from "../projects/switcher.tsx";
import { useProjects } from "../projects/use-projects.tsx";
import { notifyError } from "../ui/notify.ts";
import { sessionQuery, notifyOtherTabs, useSignOutTo, useSession } from "./session.tsx";

export function Shell({ children }: { children: ReactNode }) {
  const [opened, { toggle, close }] = useDisclosure();
  const { pathname } = useLocation();
  useEffect(close, [pathname, close]);
  const { items, reviews } = useNavItems();
  const isCurrent = (to: string): boolean =>
    to === "/" ? pathname === "/" : pathname === to || pathname.startsWith(`${to}/`);
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 220, breakpoint: "sm", collapsed: { mobile: !opened } }}
      padding={{ base: "md", md: "xl" }}
    >
      <a className="skip-link" href="#content">
        Skip to content
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap" miw={0}>
            <Burger
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={opened ? "Close menu" : "Open menu"}
            />
            <UnstyledButton component={Link} to="/" aria-label="Millrace, home">
              <Group gap={8} wrap="nowrap">
                <img src={serverPath("/ui/icon.svg")} alt="" width={26} height={26} />
                <Text fw={700} visibleFrom="xs">
                  Millrace
                </Text>
              </Group>
            </UnstyledButton>
            <ProjectSwitcher />
          </Group>
          <Group gap="xs" wrap="nowrap">
            <Find />
            <UserMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Main">
        <ScrollArea>
          {items.map(({ to, label, Icon }) => (
            <NavLink
              key={to}
              component={Link}
              to={to}
              label={label}
              leftSection={<Icon size={18} aria-hidden />}
              active={isCurrent(to)}
              rightSection={
                to === "/approvals" ? (
                  <PendingApprovals />
                ) : to === REVIEWS_PATH ? (
                  <PendingCount count={reviews ?? 0} />
                ) : undefined
              }
              aria-current={isCurrent(to) ? "page" : undefined}
              variant="light"
              style={{ borderRadius: "var(--mantine-radius-md)" }}
            />
          ))}
          <NavLink
            component="a"
            href={serverPath("/apidoc/")}
            label="API reference"
            leftSection={<IconApi size={18} aria-hidden />}
            style={{ borderRadius: "var(--mantine-radius-md)" }}
          />
        </ScrollArea>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        <ConnectionBanner />
        {children}
      </AppShell.Main>
    </AppShell>
  );
}

const PendingApprovals = () => <PendingCount count={usePendingApprovals() ?? 0} />;

/** A number of pending things; nothing if there are none. */
function PendingCount({ count }: { count: number }) {
  if (count === 0) return null;
  return (
    <Badge variant="filled" size="sm" aria-label={`${count} pending`}>
      {count > 99 ? "99+" : count}
    </Badge>
  );
}

function UserMenu() {
  const { user, mode } = useSession();
  const { several } = useProjects();
  const signOutTo = useSignOutTo();
  const client = useQueryClient();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const signOut = useMutation({
    // In OIDC mode the page /logout ends the session itself, and needs it to sign out at the provider.
    mutationFn: async () => mode === "oidc" || send("delete", "/session", {}),
    onSuccess: () => {
      client.setQueryData(sessionQuery.queryKey, null);
      notifyOtherTabs();
      signOutTo(mode === "built-in" ? "/sign-in" : "/logout");
    },
    onError: (error) => notifyError("Couldn't sign you out", error),
  });
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <Button
          variant="subtle"
          color="gray"
          rightSection={<IconChevronDown size={14} aria-hidden />}
          maw={240}
          aria-label={`User menu of ${user.email}`}
        >
          <Text truncate size="sm">
            {user.email}
          </Text>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{user.role}</Menu.Label>
        <Menu.Item component={Link} to="/keys" leftSection={<IconKey size={16} aria-hidden />}>
          API Keys
        </Menu.Item>
        <Menu.Item component={Link} to="/account" leftSection={<IconUser size={16} aria-hidden />}>
          Account
        </Menu.Item>
        {user.role === "admin" && !several && (
          <Menu.Item component={Link} to="/projects" leftSection={<IconFolders size={16} aria-hidden />}>
            Projects
          </Menu.Item>
        )}
        <Menu.Divider />
        <Menu.Item
          leftSection={
            colorScheme === "dark" ? <IconSun size={16} aria-hidden /> : <IconMoon size={16} aria-hidden />
          }
          onClick={() => setColorScheme(colorScheme === "dark" ? "light" : "dark")}
        >
          {colorScheme === "dark" ? "Light mode" : "Dark mode"}
        </Menu.Item>
        <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => signOut.mutate()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
