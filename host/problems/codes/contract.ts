import { codes } from './codes.ts';

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
});
