import { codes } from './codes.ts';

const newId =
  'Give the ID its released shape back and declare the new shape under a new ID, such as the old one with `.v2`.';

export const contract = codes({
  'contract/shape-invalid': {
    message: 'The shape is not a JSON Schema.',
    fix: 'Correct the schema at the place named; nothing was released with it yet.',
  },
  'contract/shape-unsupported': {
    message: 'The shape uses what JSON Schema 2020-12 does not have.',
    fix: 'Write it in JSON Schema 2020-12.',
  },
  'contract/shape-reference': {
    message: 'The shape refers to a schema that it does not hold.',
    fix: 'Put the schema below `$defs` of the same shape, or write it out.',
  },
  'contract/shape-too-large': {
    message: 'The shape is too large for a message contract.',
    fix: 'Split the message, or let a part of it be any value.',
  },
  'contract/wit-invalid': {
    message: 'The interface text of this version cannot be read.',
    fix: 'Correct the WIT text at the place named.',
  },
  'contract/file-unreadable': {
    message: 'The file cannot be read.',
    fix: 'Put a plain file of at most 64 MiB there that this user may read.',
  },
  'contract/unmerged': {
    message: 'A merge is still undecided in this file.',
    fix: 'Decide it, then `git add` the file.',
  },
  'contract/manifest-unreadable': {
    message: 'The manifest cannot be read.',
    fix: 'Correct the file; `jupiter bundle diagnose` tells more about a bundle.',
  },
  'contract/manifest-missing': {
    message: 'There is a lock, but no manifest that declares a topic.',
    fix: 'Commit the `bundle.json` that declares the topics, or name it with `--manifest`.',
  },
  'contract/manifest-twice': {
    message: 'The topic is declared twice.',
    fix: 'Keep one declaration, or give one of them an ID of its own.',
  },
  'contract/lock-missing': {
    message: 'The lock is missing.',
    fix: 'Restore it from the last commit that had it; where there never was one, run `jupiter contracts update` and commit it.',
  },
  'contract/lock-untracked': {
    message: 'The lock is not in git, so it holds nothing for ever.',
    fix: 'Add it to git, and take it out of .gitignore.',
  },
  'contract/lock-empty': {
    message: 'The lock is empty.',
    fix: 'Restore it from the last commit; where there never was one, run `jupiter contracts update`.',
  },
  'contract/lock-malformed': {
    message: 'The lock cannot be read as one.',
    fix: 'Restore the line from the last commit; `jupiter contracts update` then writes what is new.',
  },
  'contract/lock-conflict': {
    message: 'The lock holds the marks of an undecided merge.',
    fix: 'Run `jupiter contracts update`: it keeps the entries of both sides, and refuses where they give one ID two shapes.',
  },
  'contract/lock-duplicate': {
    message: 'The lock has two entries for one ID.',
    fix: 'Keep the one that was released first; the other shape needs an ID of its own.',
  },
  'contract/lock-line-endings': {
    message: 'The lock has carriage returns; its lines end in LF only.',
    fix: 'Put `*.lock.json text eol=lf` into .gitattributes and run `jupiter contracts update`.',
  },
  'contract/lock-layout': {
    message: 'The lock is not laid out as `jupiter contracts update` writes it.',
    fix: 'Run `jupiter contracts update`, and keep formatters away from the lock.',
  },
  'contract/lock-edited': {
    message: 'The entry was edited by hand: shape and digest do not belong together.',
    fix: 'Restore the line from the last commit that had it.',
  },
  'contract/unlocked': {
    message: 'It is declared but not in the lock.',
    fix: 'Run `jupiter contracts update` and commit the lock with the manifest.',
  },
  'contract/shape-changed': {
    message: 'The declared shape is not the one its ID stands for.',
    fix: newId,
  },
  'contract/kind-changed': {
    message: 'The declared kind is not the one its ID stands for.',
    fix: newId,
  },
  'contract/released-removed': {
    message: 'It was released and is no longer in the lock.',
    fix: 'Put the entry back. If the branch compared with is ahead of this one, merge it first.',
  },
  'contract/released-changed': {
    message: 'It was released with another shape.',
    fix: newId,
  },
  'contract/history-shallow': {
    message: 'The clone is shallow: what was released before it cannot be seen.',
    fix: 'Fetch the whole history (`fetch-depth: 0`, `git fetch --unshallow`), or name what to compare with (`--against`).',
  },
  'contract/history-incomplete': {
    message: 'A version of the lock is not in this clone.',
    fix: 'Fetch the missing objects, then check again.',
  },
  'contract/no-repository': {
    message: 'There is no git working tree here, so nothing can be compared with what was released.',
    fix: 'Run it inside the repository.',
  },
  'contract/git-missing': {
    message: 'The `git` program was not found, so nothing can be compared with what was released.',
    fix: 'Install git, or put it on the PATH.',
  },
  'contract/git-failed': {
    message: 'Git did not do what was asked of it.',
    fix: 'Read the evidence; the repository may be damaged or owned by another user.',
  },
  'contract/ref-unknown': {
    message: 'No commit here has this name.',
    fix: 'Fetch it first, or name another branch, tag or commit.',
  },
  'contract/lock-ambiguous': {
    message: 'There are several locks, none of them at the usual place.',
    fix: 'Name one with `--lock`, or run it in the folder of one project with `--repo`.',
  },
  'contract/write-failed': {
    message: 'The file could not be written.',
    fix: 'Check free space and permissions.',
  },
  'contract/hook-refused': {
    message: 'The hook was not installed, and nothing was changed.',
    fix: 'Read the evidence.',
  },
});
