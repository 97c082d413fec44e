import { codes } from './codes.ts';

export const channel = codes({
  'channel/name': {
    message: "The skill's folder has a name that cannot be published.",
    fix: 'Use 1 to 64 lower-case letters, digits and single hyphens.',
  },
  'channel/no-frontmatter': {
    message: 'The SKILL.md has no frontmatter; it is a command here and is not published.',
    fix: 'Begin it with `---`, a name and a description, and `---`.',
  },
  'channel/no-description': {
    message: 'The skill says nowhere what it is for; it is not published.',
    fix: 'Give its frontmatter a description.',
  },
  'channel/description-too-long': {
    message: 'The description is longer than a published skill may have.',
    fix: 'Shorten it, or move part of it into the body.',
  },
  'channel/frontmatter': {
    message: 'A field of the frontmatter is not what published skills may have there.',
    fix: 'See agentskills.io/specification.',
  },
  'channel/frontmatter-incomplete': {
    message:
      "The frontmatter does not carry the folder's name and a description, and policy serves only what does.",
    fix: 'Complete it, or set `channel.mcp.frontmatter` to "complete".',
  },
  'channel/path': {
    message: 'A file of the skill has a name that no URI can hold.',
    fix: 'Rename it.',
  },
  'channel/taken': {
    message: 'Another source publishes a skill at this place.',
    fix: 'Rename one of the folders, or publish only one of the sources.',
  },
  'channel/folder': {
    message: 'A folder that policy publishes cannot be read.',
    fix: 'Look at `channel.mcp.skills` and at its permissions.',
  },
  'channel/port': {
    message: 'The port for HTTP could not be opened; nothing is served there.',
    fix: 'Choose another with `jupiter up --port N` or `channel.port`.',
  },
  'channel/no-token': {
    message: 'A variable that policy names for a token is not set, or is empty; its token lets nobody in.',
    fix: 'Set it in the environment the station starts in.',
  },
});
