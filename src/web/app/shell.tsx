/** The frame of every page: where one is, where one can go, and who one is. */
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
  IconArrowsSplit2,
  IconChevronDown,
  IconHistory,
  IconHome,
  IconKey,
  IconLogout,
  IconMoon,
  IconPlayerPlay,
  IconPlugConnected,
  IconRubberStamp,
  IconSun,
  IconUser,
  IconUsers,
} from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect } from "react";
import { Link, useLocation } from "react-router";
import { send } from "../api/client.ts";
import { usePendingApprovals } from "../approvals/use-pending-approvals.ts";
import { notifyError } from "../ui/notify.ts";
import { sessionQuery, notifyOtherTabs, useSignOutTo, useHasScope, useSession } from "./session.tsx";

const PLACES = [
  { to: "/", label: "Home", Icon: IconHome },
  { to: "/workflows", label: "Workflows", Icon: IconArrowsSplit2 },
  { to: "/runs", label: "Runs", Icon: IconPlayerPlay },
  { to: "/approvals", label: "Approvals", Icon: IconRubberStamp },
  { to: "/connect", label: "Connect an agent", Icon: IconPlugConnected },
];
const ADMIN_PLACES = [
  { to: "/people", label: "People", Icon: IconUsers },
  { to: "/audit", label: "Audit log", Icon: IconHistory },
];

export function Shell({ children }: { children: ReactNode }) {
  const [opened, { toggle, close }] = useDisclosure();
  const { pathname } = useLocation();
  const may = useHasScope();
  useEffect(close, [pathname, close]);
  const places = may("admin") ? [...PLACES, ...ADMIN_PLACES] : PLACES;
  const here = (to: string): boolean =>
    to === "/" ? pathname === "/" : pathname === to || pathname.startsWith(`${to}/`);
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 220, breakpoint: "sm", collapsed: { mobile: !opened } }}
      padding={{ base: "md", md: "xl" }}
    >
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={opened ? "Close the menu" : "Open the menu"}
            />
            <UnstyledButton component={Link} to="/" aria-label="Millrace, home">
              <Group gap={8} wrap="nowrap">
                <img src="/ui/icon.svg" alt="" width={26} height={26} />
                <Text fw={700}>Millrace</Text>
              </Group>
            </UnstyledButton>
          </Group>
          <UserMenu />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Places">
        <ScrollArea>
          {places.map(({ to, label, Icon }) => (
            <NavLink
              key={to}
              component={Link}
              to={to}
              label={label}
              leftSection={<Icon size={18} aria-hidden />}
              active={here(to)}
              rightSection={to === "/approvals" ? <Pending /> : undefined}
              aria-current={here(to) ? "page" : undefined}
              variant="light"
              style={{ borderRadius: "var(--mantine-radius-md)" }}
            />
          ))}
          <NavLink
            component="a"
            href="/apidoc/"
            label="API reference"
            leftSection={<IconApi size={18} aria-hidden />}
            style={{ borderRadius: "var(--mantine-radius-md)" }}
          />
        </ScrollArea>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        {children}
      </AppShell.Main>
    </AppShell>
  );
}

/** How many approvals wait, where there are any. */
function Pending() {
  const count = usePendingApprovals() ?? 0;
  if (count === 0) return null;
  return (
    <Badge variant="filled" size="sm" aria-label={`${count} waiting`}>
      {count > 99 ? "99+" : count}
    </Badge>
  );
}

function UserMenu() {
  const { user, mode } = useSession();
  const leave = useSignOutTo();
  const client = useQueryClient();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const signOut = useMutation({
    // With a provider of our own asking, the page for signing out needs the session, and ends it.
    mutationFn: async () => mode === "oidc" || send("delete", "/session", {}),
    onSuccess: () => {
      client.setQueryData(sessionQuery.queryKey, null);
      notifyOtherTabs();
      leave(mode === "built-in" ? "/sign-in" : "/logout");
    },
    onError: (error) => notifyError("You are still signed in", error),
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
        <Menu.Divider />
        <Menu.Item
          leftSection={
            colorScheme === "dark" ? <IconSun size={16} aria-hidden /> : <IconMoon size={16} aria-hidden />
          }
          onClick={() => setColorScheme(colorScheme === "dark" ? "light" : "dark")}
        >
          {colorScheme === "dark" ? "Light" : "Dark"}
        </Menu.Item>
        <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => signOut.mutate()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
