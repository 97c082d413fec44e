import { codes } from './codes.ts';

export const paths = codes({
  'paths/unsafe': { message: 'The path cannot be used.', fix: 'Use a relative path of plain names.' },
  'paths/linked': {
    message: 'The path leads through a link; nothing is read or written beyond it.',
    fix: 'Replace the link with a folder, or remove it.',
  },
  'paths/not-a-folder': {
    message: 'Something that is no folder stands where a folder is needed.',
    fix: 'Move it away.',
  },
  'paths/unreadable': {
    message: 'The folder cannot be looked into.',
    fix: 'Check its permissions.',
  },
  'paths/not-writable': {
    message: 'The folder cannot be made.',
    fix: 'Check the permissions of the folder above it, and free space.',
  },
});
