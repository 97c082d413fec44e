/**
 * The skills of this station: one library for whatever asks, and the command a prompt may begin with. `/deploy staging`
 * becomes the expanded skill when the session's folder has one of that name; any other text, a command only the agent
 * knows included, goes through as it is.
 */
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { StationServer } from '../mcp/index.ts';
import type { Policy } from '../policy/index.ts';
import { ok, type Result } from '../problems/index.ts';
import type { SkillLibrary, SkillSource } from '../skills/index.ts';
import { installation } from './home.ts';

/** The parser and its YAML are loaded with the first look. */
export const stationSkills = (bundles: () => readonly SkillSource[]): SkillLibrary => {
  let opened: Promise<SkillLibrary> | undefined;
  const open = async (): Promise<SkillLibrary> =>
    (await import('../skills/index.ts')).openSkillLibrary({
      person: join(homedir(), '.jupiter', 'skills'),
      bundles,
      shipped: join(installation(), 'skills'),
    });
  return {
    look: async (where) => {
      opened ??= open();
      return (await opened).look(where);
    },
  };
};

/** A skill's name behind a slash, and everything behind that; `/usr/bin is full` has none. */
const command = /^\/([^\s/]+)(?:\s+(.*))?$/s;

/** `skill/…` where the skill is there and cannot be read at this moment. */
export type ExpandPrompt = (text: string, cwd: string) => Promise<Result<string>>;

export const promptExpansion =
  (library: SkillLibrary): ExpandPrompt =>
  async (text, cwd) => {
    const [, name, rest = ''] = command.exec(text) ?? [];
    if (name === undefined) return ok(text);
    const wanted = name.normalize('NFC');
    const skill = (await library.look({ cwd })).skills.find((one) => one.name === wanted);
    if (skill === undefined) return ok(text);
    const document = skill.document();
    const { renderSkill } = await import('../skills/index.ts');
    return document.ok ? ok(renderSkill({ document: document.value, dir: skill.dir }, rest)) : document;
  };

/** The tool `Skill` of a session's agent, behind the gateway: skills that policy denies are not told of. */
export const skillServer = async (
  library: SkillLibrary,
  cwd: string,
  policy: () => Policy,
): Promise<StationServer> => {
  const { decide, mountSkills } = await import('../mcp/index.ts');
  const offered: SkillLibrary = {
    ...library,
    look: async (where) => {
      const found = await library.look(where);
      const { permissions } = policy();
      const denied = (skill: string): boolean => decide(permissions, { skill }).decision === 'deny';
      return { ...found, skills: found.skills.filter(({ name }) => !denied(name)) };
    },
  };
  // The gate has decided before it is called.
  return mountSkills({ library: offered, cwd, decide: () => undefined });
};
