import { codes } from './codes.ts';

export const skill = codes({
  'skill/not-text': {
    message: 'The SKILL.md is not UTF-8 text.',
    fix: 'Save it as UTF-8 without NUL bytes.',
  },
  'skill/frontmatter-unclosed': {
    message: 'The frontmatter opens with `---` and is never closed.',
    fix: 'Put a line `---` behind its last field.',
  },
  'skill/frontmatter-too-large': {
    message: 'The frontmatter is larger than a frontmatter may be.',
    fix: 'Move long text into the body or into a file of the skill.',
  },
  'skill/frontmatter-not-strict': {
    message: 'The frontmatter is not YAML that every reader reads alike.',
    fix: 'Put values that hold ": " or " #" in quotes; leave out anchors, tags and keys that are there twice.',
  },
  'skill/name-invalid': {
    message: 'The name of the skill cannot be used.',
    fix: 'Use lower-case letters, digits and hyphens, the same as the folder is called.',
  },
  'skill/no-document': { message: 'The folder holds no SKILL.md.', fix: 'Name a folder that holds one.' },
  'skill/link': {
    message: 'A link stands where a file or a folder of a skill must be; it was not followed.',
    fix: 'Put a copy in its place.',
  },
  'skill/not-a-file': {
    message: 'Something in the skill is neither a file nor a folder.',
    fix: 'Remove it.',
  },
  'skill/unreadable': {
    message: 'Something in the skill cannot be read.',
    fix: 'Look at its permissions.',
  },
  'skill/path-unsafe': {
    message: 'A file of the skill has a name that not every system can hold.',
    fix: 'Rename it.',
  },
  'skill/changed': {
    message: 'The skill changed while it was read.',
    fix: 'Try again when nothing writes to it.',
  },
  'skill/document-too-large': {
    message: 'The SKILL.md is larger than it may be.',
    fix: 'Move parts of it into other files of the skill.',
  },
  'skill/file-too-large': { message: 'A file of the skill is larger than a file may be.', fix: 'Split it.' },
  'skill/too-many-files': { message: 'The skill has more files than it may.', fix: 'Remove some.' },
  'skill/too-large': {
    message: 'The files of the skill are together larger than they may be.',
    fix: 'Remove some.',
  },
  'skill/too-deep': { message: 'The folders of the skill are nested too deep.', fix: 'Flatten them.' },
  'skill/too-many': {
    message: 'The folder holds more skills than are read from one folder.',
    fix: 'Remove some, or spread them over several bundles.',
  },
  'skill/foreign-owner': {
    message: 'The folder of skills belongs to another user; it was not read.',
    fix: 'Remove it, or work in a folder that belongs to the same user.',
  },
  'skill/unknown': { message: 'There is no skill of this name.', fix: 'Look at `jupiter skills list`.' },
  'skill/nothing-to-check': {
    message: 'No skill was found there.',
    fix: 'Name a SKILL.md, a folder that holds one, or a folder of such folders.',
  },
});
