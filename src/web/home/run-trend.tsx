/** The runs of the last 14 days as bars, each of which leads to the runs of its day. */
import { Box, Group, Text, Tooltip } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import * as texts from "#texts/home";
import type { DayStatistics } from "../../../schemas/run-statistics.ts";
import { locale } from "../locale/locale.ts";
import { useProjectFilter } from "../projects/use-projects.tsx";
import { LoadingSkeleton, QueryContent } from "../ui/page.tsx";
import { HomeCard } from "./home-card.tsx";
import { runStatisticsQuery } from "./queries.ts";
import classes from "./run-trend.module.css";
import { barHeights, dayText } from "./trend-bars.ts";

export function RunTrend() {
  const query = useQuery(runStatisticsQuery(useProjectFilter()));
  return (
    <HomeCard title={texts.trendTitle} to="/runs">
      <QueryContent query={query} skeleton={<LoadingSkeleton rows={3} />}>
        {({ days }) => <Bars days={days} />}
      </QueryContent>
    </HomeCard>
  );
}

function Bars({ days }: { days: readonly DayStatistics[] }) {
  const heights = barHeights(days);
  return (
    <Box dir="ltr">
      <ul className={classes["bars"]} aria-label={texts.runsByDay}>
        {days.map((day, index) => (
          <li key={day.date}>
            <Tooltip label={dayText(day)} events={{ hover: true, focus: true, touch: true }}>
              <Link
                to={`/runs?since=${day.date}&until=${day.date}`}
                className={classes["day"]}
                aria-label={dayText(day)}
              >
                <span className={classes["failed"]} style={{ height: `${heights[index]!.failed}%` }} />
                <span className={classes["succeeded"]} style={{ height: `${heights[index]!.succeeded}%` }} />
              </Link>
            </Tooltip>
          </li>
        ))}
      </ul>
      <Group justify="space-between" wrap="nowrap">
        <Text size="xs" c="dimmed" style={{ whiteSpace: "nowrap" }}>
          {formatDay(days[0]!.date)}
        </Text>
        <Group gap="sm" wrap="nowrap">
          <Legend kind="succeeded" />
          <Legend kind="failed" />
        </Group>
        <Text size="xs" c="dimmed">
          {texts.today}
        </Text>
      </Group>
    </Box>
  );
}

const Legend = ({ kind }: { kind: "succeeded" | "failed" }) => (
  <Group gap={6} wrap="nowrap">
    <span className={`${classes["swatch"]} ${classes[kind]}`} aria-hidden />
    <Text size="xs" c="dimmed">
      {texts.outcome({ outcome: kind })}
    </Text>
  </Group>
);

const dayFormat = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", timeZone: "UTC" });
const formatDay = (date: string): string => dayFormat.format(Date.parse(date));
