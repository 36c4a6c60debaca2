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
  IconBell,
  IconArrowsSplit2,
  IconCheck,
  IconChevronDown,
  IconFolders,
  IconGitPullRequest,
  IconHistory,
  IconHome,
  IconKey,
  IconLanguage,
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
import * as texts from "#texts/app";
import * as localeTexts from "#texts/locale";
import { send } from "../api/client.ts";
import { usePendingReviews } from "../reviews/queries.ts";
import { usePendingApprovals } from "../approvals/use-pending-approvals.ts";
import { chooseLanguage, LANGUAGES } from "../locale/choose-language.ts";
import { language } from "../locale/locale.ts";
import { SearchButton } from "../palette/search-button.tsx";
import { ProjectSwitcher } from "../projects/switcher.tsx";
import { useProjects } from "../projects/use-projects.tsx";
import { notifyError } from "../ui/notify.ts";
import { ConnectionBanner } from "./connection-banner.tsx";
import { sessionQuery, notifyOtherTabs, useSignOutTo, useHasScope, useSession } from "./session.tsx";

const NAV_ITEMS = [
  { to: "/", label: texts.home, Icon: IconHome },
  { to: "/workflows", label: texts.workflows, Icon: IconArrowsSplit2 },
  { to: "/runs", label: texts.runs, Icon: IconPlayerPlay },
  { to: "/approvals", label: texts.approvals, Icon: IconRubberStamp },
  { to: "/connect", label: texts.connectAgent, Icon: IconPlugConnected },
];
const REVIEWS = { to: "/reviews", label: texts.reviews, Icon: IconGitPullRequest };
const PROJECTS = { to: "/projects", label: texts.projects, Icon: IconFolders };
const ADMIN_NAV_ITEMS = [
  { to: "/people", label: texts.people, Icon: IconUsers },
  { to: "/notifications", label: texts.notifications, Icon: IconBell },
  { to: "/audit", label: texts.auditLog, Icon: IconHistory },
];

/** The pages of the user menu. */
const MENU_PAGES = [
  { to: "/keys", label: texts.apiKeys, Icon: IconKey },
  { to: "/account", label: texts.account, Icon: IconUser },
];

export function Shell({ children }: { children: ReactNode }) {
  const [opened, { toggle, close }] = useDisclosure();
  const { pathname } = useLocation();
  const hasScope = useHasScope();
  const { several } = useProjects();
  useEffect(close, [pathname, close]);
  const reviews = usePendingReviews();
  const navItems = [
    ...NAV_ITEMS.flatMap((item) =>
      item.to === "/approvals" && reviews !== undefined ? [item, REVIEWS] : [item],
    ),
    ...(several ? [PROJECTS] : []),
    ...(hasScope("admin") ? ADMIN_NAV_ITEMS : []),
  ];
  const isCurrent = (to: string): boolean =>
    to === "/" ? pathname === "/" : pathname === to || pathname.startsWith(`${to}/`);
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 220, breakpoint: "sm", collapsed: { mobile: !opened } }}
      padding={{ base: "md", md: "xl" }}
    >
      <a className="skip-link" href="#content">
        {texts.skipToContent}
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap" miw={0}>
            <Burger
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={opened ? texts.closeMenu : texts.openMenu}
            />
            <UnstyledButton component={Link} to="/" aria-label={texts.millraceHome}>
              <Group gap={8} wrap="nowrap">
                <img src="/ui/icon.svg" alt="" width={26} height={26} />
                <Text fw={700} visibleFrom="xs">
                  Millrace
                </Text>
              </Group>
            </UnstyledButton>
            <ProjectSwitcher />
          </Group>
          <Group gap="xs" wrap="nowrap">
            <SearchButton pages={[...navItems, ...MENU_PAGES]} />
            <UserMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label={texts.mainNavigation}>
        <ScrollArea>
          {navItems.map(({ to, label, Icon }) => (
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
                ) : to === REVIEWS.to ? (
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
            href="/apidoc/"
            label={texts.apiReference}
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
    <Badge variant="filled" size="sm" aria-label={texts.pending({ count })}>
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
    onError: (error) => notifyError(texts.signOutFailed, error),
  });
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <Button
          variant="subtle"
          color="gray"
          rightSection={<IconChevronDown size={14} aria-hidden />}
          maw={240}
          aria-label={texts.userMenu({ email: user.email })}
        >
          <Text truncate size="sm">
            {user.email}
          </Text>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{texts.role({ role: user.role })}</Menu.Label>
        <Menu.Item component={Link} to="/keys" leftSection={<IconKey size={16} aria-hidden />}>
          {texts.apiKeys}
        </Menu.Item>
        <Menu.Item component={Link} to="/account" leftSection={<IconUser size={16} aria-hidden />}>
          {texts.account}
        </Menu.Item>
        {user.role === "admin" && !several && (
          <Menu.Item component={Link} to="/projects" leftSection={<IconFolders size={16} aria-hidden />}>
            {texts.projects}
          </Menu.Item>
        )}
        <Menu.Divider />
        <Menu.Item
          leftSection={
            colorScheme === "dark" ? <IconSun size={16} aria-hidden /> : <IconMoon size={16} aria-hidden />
          }
          onClick={() => setColorScheme(colorScheme === "dark" ? "light" : "dark")}
        >
          {colorScheme === "dark" ? texts.lightMode : texts.darkMode}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Label>{localeTexts.language}</Menu.Label>
        {LANGUAGES.map(({ code, name }) => (
          <Menu.Item
            key={code}
            lang={code}
            aria-current={code === language}
            leftSection={<IconLanguage size={16} aria-hidden />}
            rightSection={code === language ? <IconCheck size={14} aria-hidden /> : undefined}
            onClick={() => chooseLanguage(code)}
          >
            {name}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => signOut.mutate()}>
          {texts.signOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
