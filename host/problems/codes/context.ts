import { codes } from './codes.ts';

export const context = codes({
  'context/sink-invalid': {
    message: 'The folder for skills is not a relative path of plain names.',
    fix: 'Use a folder below the workspace, such as `.claude/skills`.',
  },
  'context/workspace-missing': {
    message: 'The workspace is not an absolute path of an existing folder.',
    fix: 'Name the folder the agent works in by its absolute path.',
  },
  'context/placement-busy': {
    message: 'Another placement holds this folder for skills and did not finish in time.',
    fix: 'Try again; if no station runs, delete the lock file that is named.',
  },
  'context/skill-invalid': {
    message: 'The skill has a name or a file that cannot be placed.',
    fix: 'Correct the bundle and install it again.',
  },
  'context/skill-conflict': {
    message: 'Two bundles carry a skill of this name; the first bundle by ID is placed.',
    fix: 'Rename one of the skills, or uninstall one of the bundles.',
  },
  'context/file-not-ours': {
    message: 'Something we did not place stands there; it stays.',
    fix: 'Move it away if the skill should be placed.',
  },
  'context/file-edited': {
    message: 'The placed file was changed since; it stays.',
    fix: 'Keep your change, or delete the file so that it is placed again.',
  },
  'context/record-unreadable': {
    message: 'The record of what was placed cannot be read, so nothing there counts as ours.',
    fix: 'Move the folder of the skill away so that it is placed again.',
  },
  'context/marker-foreign': {
    message:
      "The marker of a placed skill is not one this home wrote (the workspace was moved or copied, another home placed the skill, or someone changed the marker), so everything there is the user's and stays.",
    fix: 'Delete the folder of the skill to have it placed again, or leave it and keep it yourself.',
  },
  'context/source-changed': {
    message: 'A file of the installed bundle is not what was admitted; nothing of the skill was placed.',
    fix: 'Run `jupiter bundle verify`, then install the bundle again.',
  },
  'context/write-failed': {
    message: 'The workspace could not be written.',
    fix: 'Check permissions and free space, then try again.',
  },
  'context/changed-meanwhile': {
    message: 'Someone changed the folder while the skill was placed; what was theirs stays.',
    fix: 'Try again.',
  },
  'context/withheld': {
    message: 'The skill was not placed.',
    fix: 'The evidence says why; the session shows it too.',
  },
  'context/server-withheld': {
    message: 'The agent is a consumer of the server and did not get it.',
    fix: '`jupiter policy explain --agent NAME` shows the rule.',
  },
  'context/listing-budget': {
    message:
      'The skills placed together do not fit into the list the agent shows its model; it cuts or drops some.',
    fix: 'Shorten descriptions, or uninstall what is not needed; `jupiter skills check` tells what each takes.',
  },
  'context/in-use': {
    message: 'A session that is not over was given this skill, so it stays.',
    fix: 'It is taken away when the session is closed.',
  },
  'context/path-outside': {
    message: 'The path does not lie inside the workspace, or a link stands on its way.',
    fix: 'Name a file below the workspace by a path without links.',
  },
  'context/file-missing': {
    message: 'There is no such file in the workspace.',
    fix: 'Look at the folder; paths are absolute or relative to the workspace.',
  },
  'context/not-a-file': {
    message: 'What stands there is no ordinary file.',
    fix: 'Name a file.',
  },
  'context/file-too-long': {
    message: 'The file, or the part of it that was asked for, is longer than the station hands over.',
    fix: 'Ask for fewer lines at a time.',
  },
  'context/not-text': {
    message: 'The file is not text in UTF-8.',
    fix: 'Read it with a tool that takes bytes.',
  },
  'context/holds-secret': {
    message:
      'The text holds the value of a variable that policy names; the station neither reads nor writes it.',
    fix: 'Keep the value in the environment, and name the variable in the file instead.',
  },
  'context/twin': {
    message: 'A file or folder stands there whose name some systems would take for the same.',
    fix: 'Use the name that is there, or another one.',
  },
  'context/believed': {
    message: 'Others believe or run what stands there: an agent does not write it.',
    fix: 'Write it yourself, or have the agent put it elsewhere.',
  },
  'context/placed-missing': {
    message: 'A placed file is gone.',
    fix: 'Create a session there again; it is placed anew.',
  },
  'context/placed-unfinished': {
    message: 'A placement was cut off; the skill is not whole.',
    fix: 'Create a session there again; it is completed.',
  },
});
