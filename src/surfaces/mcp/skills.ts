/**
 * Skills over MCP: the one that says how workflows are written, and one for each workflow that is exposed as a tool. A caller has
 * those that it can use.
 * @see https://modelcontextprotocol.io/seps/2640-skills-extension
 */
import {
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
  type ServerContext,
} from "@modelcontextprotocol/server";
import {
  type Skill,
  skillEntry,
  SkillsExtension,
  type SkillSource,
} from "@modelcontextprotocol/server/ext/skills";
import { type Access, mayUseTool } from "../../core/access.ts";
import { MINUTE } from "../../core/clock.ts";
import { nextTurn } from "../../core/next-turn.ts";
import { oncePer } from "../../core/once-per.ts";
import { skillFile } from "../agent-texts.ts";
import { type ExposedTool, usableExposed } from "./exposed-workflows.ts";
import { identityOf } from "./request-identity.ts";
import { skillNameOf, workflowSkillFile } from "./workflow-skill.ts";

/** How long a client may use a list or an entry. An old entry misleads nobody: files are checked against its digests. */
const CACHE_HINT = { ttlMs: MINUTE, cacheScope: "private" } as const;
/** Number of skills in a page. */
const PAGE = 50;
const SCHEME = "skill://";
const FILE_NAME = "SKILL.md";
const MIME_TYPE = "text/markdown";
/** The name of the skill that says how workflows are written, and the operation with which it begins: who may use it has the skill. */
const AUTHORING = "millrace";
const FIRST_OPERATION = "describe_environment";

/** Reads a file of a skill; undefined for a URI of another scheme. @throws ResourceNotFoundError */
export type ReadSkill = (uri: string, ctx: ServerContext) => Promise<ReadResourceResult | undefined>;

/** A skill of one file, by its name. */
interface NamedSkill {
  name: string;
  uri: string;
  text(): string;
}

const namedSkill = (name: string, text: () => string): NamedSkill => ({
  name,
  uri: `${SCHEME}${name}/${FILE_NAME}`,
  text,
});

const authoring = namedSkill(AUTHORING, skillFile);
const skillOf = oncePer((exposed: ExposedTool) =>
  namedSkill(skillNameOf(exposed.tool.name), () => workflowSkillFile(exposed)),
);
const entryOf = oncePer(({ name, text }: NamedSkill) => skillEntry(name, { [FILE_NAME]: text() }));

/** @param exposedTools the workflows that are exposed as tools, of all projects */
export function skillsOf(exposedTools: () => Promise<readonly ExposedTool[]>): {
  extension: SkillsExtension;
  read: ReadSkill;
} {
  /** The skills of a caller by their URIs, in the order of these. */
  async function visibleTo(access: Access): Promise<ReadonlyMap<string, NamedSkill>> {
    const skills = usableExposed(await exposedTools(), access).map(skillOf);
    if (mayUseTool(access, FIRST_OPERATION)) skills.push(authoring);
    // The hash of a name is short enough to be searched for: the workflow that was allowed first keeps its skill.
    const named = new Map(skills.toReversed().map((skill) => [skill.uri, skill]));
    return new Map([...named].toSorted(byUri));
  }
  const visibleIn = (ctx: ServerContext) => visibleTo(identityOf(ctx).principal.access);

  const source = {
    async list({ cursor }, ctx) {
      if (cursor?.startsWith(SCHEME) === false) throw unknownCursor();
      const skills = [...(await visibleIn(ctx)).values()];
      const rest = cursor === undefined ? skills : skills.filter(({ uri }) => uri > cursor);
      const entries: Skill[] = [];
      for (const skill of rest.slice(0, PAGE)) {
        await nextTurn();
        entries.push(await entryOf(skill));
      }
      return { skills: entries, ...(rest.length > PAGE && { nextCursor: entries.at(-1)!.uri }) };
    },
    async get(uri, ctx) {
      const skill = (await visibleIn(ctx)).get(uri);
      return skill && entryOf(skill);
    },
    async read(uri, ctx) {
      const skill = (await visibleIn(ctx)).get(uri);
      return skill && { text: skill.text(), mimeType: MIME_TYPE };
    },
  } satisfies SkillSource;

  return {
    extension: new SkillsExtension({ source, cacheHint: CACHE_HINT, strict: true }),
    async read(uri, ctx) {
      if (!uri.startsWith(SCHEME)) return undefined;
      const found = await source.read(uri, ctx);
      if (found === undefined)
        throw new ResourceNotFoundError(
          uri,
          `There is no file ${JSON.stringify(uri.slice(0, 200))} of a skill. skills/list lists the skills.`,
        );
      return { contents: [{ uri, ...found }] };
    },
  };
}

const byUri = ([one]: [string, unknown], [other]: [string, unknown]): number =>
  one < other ? -1 : Number(one > other);

const unknownCursor = (): ProtocolError =>
  new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    "This cursor is not one of skills/list. Leave cursor out to begin with the first page.",
  );
