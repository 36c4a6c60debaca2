/** A badge with a colour, an icon and a word: not only a colour (WCAG 1.4.1). */
import { Badge } from "@mantine/core";
import type { ComponentType } from "react";

export type BadgeIcon = ComponentType<{ size?: number; "aria-hidden"?: boolean }>;

interface IconBadgeProps {
  color: string;
  label: string;
  Icon: BadgeIcon;
}

export function IconBadge({ color, label, Icon }: IconBadgeProps) {
  return (
    <Badge
      variant="light"
      color={color}
      leftSection={<Icon size={12} aria-hidden />}
      tt="none"
      miw="max-content"
      // Only the icon is coloured: no shade has a contrast of 4.5:1 on its own tint in both schemes (WCAG 1.4.3).
      styles={{ label: { color: "var(--mantine-color-text)" } }}
      className={`status-${color}`}
    >
      {label}
    </Badge>
  );
}
