/** The configured databases beside the editor: tables, columns and sample rows, to insert into the definition by a click. */
import { Alert, Button, Group, NativeSelect, Stack, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import * as texts from "#texts/data";
import { EmptyState, LoadingSkeleton, QueryContent } from "../ui/page.tsx";
import { filterTables } from "./filter-tables.ts";
import { type DatabaseEntry, databasesQuery, sampleQuery, type Table, tablesQuery } from "./queries.ts";
import { TableEntry } from "./table-entry.tsx";

/** What a click on a table or column does with the definition. */
export interface DatabaseInsertions {
  /** @param type the type of the database, which decides how the name is quoted */
  insertName(item: { kind: "table" | "column"; name: string }, type: string): void;
  /** @param database undefined for the default database */
  insertStep(table: Table, database: string | undefined, type: string): void;
}

interface DatabaseBrowserProps extends DatabaseInsertions {
  /** The project whose databases are shown; undefined for a user with one project. */
  project: string | undefined;
}

export default function DatabaseBrowser({ project, ...insertions }: DatabaseBrowserProps) {
  const query = useQuery(databasesQuery(project));
  const [chosen, setChosen] = useState<string>();
  return (
    <QueryContent query={query} skeleton={<LoadingSkeleton rows={4} />}>
      {({ databases, defaultDatabase }) => {
        const current =
          databases.find(({ name }) => name === chosen) ??
          databases.find(({ name }) => name === defaultDatabase) ??
          databases[0];
        if (current === undefined)
          return <EmptyState title={texts.noDatabasesTitle}>{texts.noDatabases}</EmptyState>;
        return (
          <Stack gap="sm">
            <NativeSelect
              label={texts.database}
              value={current.name}
              onChange={({ currentTarget }) => setChosen(currentTarget.value)}
              data={databases.map(({ name, type, access }) => ({
                value: name,
                label: texts.databaseOption({
                  name,
                  type,
                  access: access === "read-only" ? "readOnly" : "readWrite",
                }),
              }))}
            />
            <Tables
              key={current.name}
              database={current}
              project={project}
              insertName={insertions.insertName}
              insertStep={(table, name, type) =>
                insertions.insertStep(table, name === defaultDatabase ? undefined : name, type)
              }
            />
          </Stack>
        );
      }}
    </QueryContent>
  );
}

interface TablesProps extends DatabaseBrowserProps {
  database: DatabaseEntry;
}

function Tables({ database, project, ...insertions }: TablesProps) {
  const query = useQuery({
    ...tablesQuery(database.name, project),
    enabled: database.unusable === undefined,
  });
  const [words, setWords] = useState("");
  if (database.unusable !== undefined)
    return (
      <Alert color="yellow" title={texts.unusable} role="note">
        {database.unusable}
      </Alert>
    );
  return (
    <>
      <TextInput
        label={texts.find}
        value={words}
        onChange={({ currentTarget }) => setWords(currentTarget.value)}
        autoComplete="off"
        spellCheck={false}
      />
      <QueryContent query={query} skeleton={<LoadingSkeleton rows={4} />}>
        {({ tables, more }) => {
          const found = filterTables(tables, words);
          return (
            <Stack gap="xs">
              <Text size="sm" c="dimmed" role="status">
                {describeCount(found.length, tables.length, words)}
              </Text>
              <Stack gap={4} component="ul" m={0} p={0} style={{ listStyle: "none" }}>
                {found.map((table) => (
                  <TableEntry
                    key={table.name}
                    table={table}
                    database={database}
                    project={project}
                    {...insertions}
                  />
                ))}
              </Stack>
              {more && (
                <OtherTable name={words.trim()} database={database} project={project} {...insertions} />
              )}
            </Stack>
          );
        }}
      </QueryContent>
    </>
  );
}

function describeCount(found: number, all: number, words: string): string {
  if (all === 0) return texts.noTables;
  if (words.trim() === "") return texts.tableCount({ count: all });
  return texts.foundTables({ found, total: all });
}

/** A table beyond those that the server lists, by its exact name. */
function OtherTable({ name, database, project, ...insertions }: TablesProps & { name: string }) {
  const [wanted, setWanted] = useState<string>();
  const query = useQuery({
    ...sampleQuery(database.name, wanted ?? "", project),
    enabled: wanted !== undefined,
  });
  return (
    <Stack gap="xs">
      <Text size="sm">{texts.moreTables}</Text>
      <Group>
        <Button size="compact-sm" variant="default" disabled={name === ""} onClick={() => setWanted(name)}>
          {name === "" ? texts.loadTable : texts.loadNamed({ name })}
        </Button>
      </Group>
      {wanted !== undefined && (
        <QueryContent query={query} skeleton={<LoadingSkeleton rows={1} />}>
          {(table) => (
            <Stack gap={4} component="ul" m={0} p={0} style={{ listStyle: "none" }}>
              <TableEntry table={table} database={database} project={project} {...insertions} />
            </Stack>
          )}
        </QueryContent>
      )}
    </Stack>
  );
}
