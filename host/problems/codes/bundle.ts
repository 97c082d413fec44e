import { codes } from './codes.ts';

export const bundle = codes({
  'bundle/folder-missing': {
    message: 'There is no bundle folder at this place.',
    fix: 'Name the folder that holds `bundle.json`, or an archive of it (`.tgz`).',
  },
  'bundle/archive-unreadable': {
    message: 'The archive is not a gzipped tar that every reader reads alike.',
    fix: 'Make it with `jupiter bundle pack DIR -o FILE.tgz`.',
  },
  'bundle/entry-mode': {
    message: 'A file in the archive sets the user or group of whoever runs it.',
    fix: 'Take the bit away (`chmod ug-s`) and pack again.',
  },
  'bundle/key-exists': {
    message: 'Something is at the place of the new key already; it was left alone.',
    fix: 'Name another file with `-o`.',
  },
  'bundle/key-unreadable': {
    message: 'The file is not a private key this command made.',
    fix: 'Make one with `jupiter bundle keygen -o FILE`.',
  },
  'bundle/key-open': {
    message: 'Others can read the private key, so it is not used.',
    fix: 'Run `chmod 600` on it; if others may have read it, make a new one.',
  },
  'bundle/signature-unreadable': {
    message: 'The signature beside the manifest is not one that can be read.',
    fix: 'Get the bundle again; its author runs `jupiter bundle pack --sign`.',
  },
  'bundle/signature-missing': {
    message: 'Policy requires a signature of this bundle and it has none.',
    fix: 'Get a signed copy from its author.',
  },
  'bundle/signature-key': {
    message: 'The bundle is signed with another key than policy requires.',
    fix: 'Get a copy from its author; if the author has a new key, name it in `policy.jsonc` under `keys`.',
  },
  'bundle/signature-wrong': {
    message: 'The signature does not belong to this bundle: the bundle or the signature was changed.',
    fix: 'Get the bundle again from its author.',
  },
  'bundle/manifest-missing': {
    message: 'The folder has no `bundle.json`.',
    fix: 'Name the folder that holds `bundle.json`, or write one: `{"manifest": 2, "id": "my.bundle", "version": "0.1.0"}` is enough for skills.',
  },
  'bundle/manifest-unreadable': {
    message: 'The manifest is not one unambiguous JSON document.',
    fix: 'Write it as UTF-8 JSON without comments, byte order mark or repeated keys.',
  },
  'bundle/manifest-invalid': {
    message: 'The manifest breaks a rule.',
    fix: 'Correct the named field, then run `jupiter bundle pack`.',
  },
  'bundle/shape-invalid': {
    message: "A topic's shape uses something a shape may not use.",
    fix: 'Use JSON Schema 2020-12 with local `#/$defs/…` references only.',
  },
  'bundle/limit-exceeded': {
    message: 'The bundle is over a limit.',
    fix: 'Make the bundle smaller, or split it.',
  },
  'bundle/link': {
    message: 'A link stands inside the bundle; bundles hold files only.',
    fix: 'Put a copy of the file in its place.',
  },
  'bundle/not-a-file': {
    message: 'Something that is neither a file nor a folder stands inside the bundle.',
    fix: 'Remove it.',
  },
  'bundle/path-collision': {
    message: 'Two paths are one file on some systems.',
    fix: 'Rename one of them.',
  },
  'bundle/path-reserved': {
    message: 'The path is reserved for the station.',
    fix: 'Rename the file.',
  },
  'bundle/size-mismatch': {
    message: 'A file has another size than the manifest declares.',
    fix: 'Get the bundle again; its author runs `jupiter bundle pack` after a change.',
  },
  'bundle/digest-mismatch': {
    message: 'A file has other bytes than the manifest declares.',
    fix: 'Get the bundle again; its author runs `jupiter bundle pack` after a change.',
  },
  'bundle/file-extra': {
    message: 'A file is in the folder that the manifest does not name.',
    fix: 'Remove it, or run `jupiter bundle pack` if it is meant to be part of the bundle.',
  },
  'bundle/file-missing': {
    message: 'A file the manifest names is not there.',
    fix: 'Get the bundle again, or run `jupiter bundle pack` if it was removed on purpose.',
  },
  'bundle/changed-while-read': {
    message: 'Something changed in the folder while it was read.',
    fix: 'Wait until nothing writes there, then try again.',
  },
  'bundle/unreadable': {
    message: 'A file or folder could not be read.',
    fix: 'Check its permissions and the disk.',
  },
  'bundle/skill-name': {
    message: 'A skill folder has a name that no skill can have.',
    fix: 'Use at most 64 lower-case letters, digits and single hyphens between them.',
  },
  'bundle/no-skill-file': {
    message: 'A folder under `skills/` has no `SKILL.md`, so it makes no skill.',
    fix: 'Add `SKILL.md`, written so, or move the folder.',
  },
  'bundle/skill-finding': {
    message: 'Agents refuse, cut or misread a skill of the bundle.',
    fix: 'Correct the line, and pack again; `jupiter skills check DIR` says more.',
  },
  'bundle/hidden-file': {
    message: 'A hidden file is part of the bundle.',
    fix: 'Remove it and pack again unless it is meant to be there.',
  },
  'bundle/version-control': {
    message: 'The history of a repository would become part of the bundle.',
    fix: 'Keep the bundle in a folder of its own below the top of the repository, and pack that folder.',
  },
  'bundle/nothing-inside': {
    message: 'The bundle holds no component, no topic and no skill.',
    fix: 'Add one; a skill is `skills/<name>/SKILL.md`.',
  },
  'bundle/pack-target': {
    message: 'The bundle cannot be written to this place.',
    fix: 'Name a new file or folder outside the bundle, below a folder that exists, or one that holds a whole bundle.',
  },
  'bundle/write-failed': {
    message: 'The bundle could not be written.',
    fix: 'Check free space and permissions.',
  },
  'bundle/identity-mismatch': {
    message: 'The package is whole but is not the revision that was installed.',
    fix: 'Install the bundle again from its source.',
  },
  'bundle/package-damaged': {
    message: 'The package on disk differs from what was installed.',
    fix: 'Install the bundle again from its source.',
  },
  'bundle/package-missing': {
    message: 'The bundle is recorded as installed but its package is not there.',
    fix: 'Install the bundle again from its source, or uninstall it.',
  },
  'bundle/package-stray': {
    message: 'Something the station did not put there is among the packages; it was left alone.',
    fix: 'Move it elsewhere.',
  },
  'bundle/record-unreadable': {
    message: 'The record of an installed bundle cannot be read by this station.',
    fix: 'Install the bundle again from its source.',
  },
  'bundle/not-staged': {
    message: 'The revision was not staged by this station.',
    fix: 'Install the bundle from its source.',
  },
  'bundle/not-installed': {
    message: 'No bundle of this ID is installed.',
    fix: 'See `jupiter bundle list`.',
  },
  'bundle/topic-conflict': {
    message: 'The bundle declares a topic that is known here with another shape.',
    fix: 'A topic stands for one shape for ever: declare the new shape under a new topic ID.',
  },
  'bundle/lock-invalid': {
    message: 'The lock of topics in the bundle cannot be read, or says otherwise than its manifest.',
    fix: 'Run `jupiter contracts check` in the repository of the bundle, then pack again.',
  },
  'bundle/not-granted': {
    message: 'Policy does not grant all that the component asks for, so it is not started.',
    fix: 'Grant it in `policy.jsonc` under `grants`; the station looks again at the next command.',
  },
  'bundle/leaving': {
    message: 'The bundle is being uninstalled: it waits for the last call in flight.',
    fix: 'Look with `jupiter bundle list`; it is gone from it when that call has ended.',
  },
  'bundle/draining': {
    message: 'Calls are still in flight; the bundle takes no more, and is gone when the last one ends.',
    fix: 'Nothing: it finishes by itself, also after a restart. Look with `jupiter bundle list`.',
  },
  'bundle/permission-unknown': {
    message: 'There is no permission of this name.',
    fix: 'The permissions are listed in docs/reference/wit.md.',
  },
  'bundle/no-component': {
    message: 'The installed bundle has no component of this name.',
    fix: '`jupiter bundle list` shows the components there are, as `bundle:component`.',
  },
});
