/** Skills of every kind that can be published, as files of one folder: nested, large, odd, at the limits. */
import { type Files, skill } from '../mcp/published.ts';

export const everyKind = (): Files => {
  const files: Record<string, string | Uint8Array> = {
    'git-workflow/SKILL.md': skill('git-workflow', 'See references/GUIDE.md and the files of templates/.'),
    'git-workflow/references/GUIDE.md': '# Guide\n',
    'git-workflow/templates/invoice.md': 'One\r\nTwo\r\n',
    'git-workflow/templates/regional/eu.md': '\ufeffEU without a final newline',
    'git-workflow/scripts/run.sh': '#!/bin/sh\nexit 0\n',
    'git-workflow/empty.txt': '',
    'acme/billing/refunds/SKILL.md': skill(
      'refunds',
      'Refund.',
      'license: Apache-2.0\nmetadata:\n  version: "2.1.0"\n',
    ),
    'acme/billing/refunds/examples/email.md': 'Dear customer\n',
    'acme/billing/refunds/disputes/SKILL.md': skill('disputes', 'A skill inside another.'),
    'acme/billing/refunds/disputes/form.json': '{"a": [1, 2]}\n',
    'crlf/SKILL.md': skill('crlf').replaceAll('\n', '\r\n'),
    'bom/SKILL.md': `\ufeff${skill('bom')}`,
    'completed/SKILL.md':
      '---\nname: other\ndescription: use it for X. Triggers: a, b\nlicense: MIT\n---\nBody\n',
    'folded/SKILL.md':
      '---\nname: folded\ndescription: >-\n  over several\n  lines\ncompatibility: any\n---\nBody\n',
    'odd-files/SKILL.md': skill('odd-files'),
    'odd-files/logo.png': new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 255]),
    'odd-files/latin1.txt': Buffer.from('caf\xe9', 'latin1'),
    'odd-files/zero.txt': 'a\0b',
    'odd-files/bad-utf8.txt': new Uint8Array([0x61, 0xc3, 0x28]),
    'odd-files/Q&A (1)+[x]!.md': 'an odd name\n',
    'odd-files/100% sure.md': 'percent\n',
    'odd-files/残量/補充.md': 'names of another script\n',
    'odd-files/lines.txt': '\u2028\u2029\u0085"\\\u0001',
    'large/SKILL.md': skill('large'),
    'large/blob.bin': Buffer.alloc(
      2 * 1024 * 1024,
      Uint8Array.from({ length: 251 }, (_, n) => n),
    ),
    'large/text.md': Buffer.alloc(1024 * 1024, 'A "quoted" line of text.\n'),
    'at-limit/SKILL.md': skill('at-limit'),
  };
  for (let n = 0; n < 511; n += 1) files[`at-limit/files/f${n}.md`] = `${n}\n`;
  for (let n = 0; n < 120; n += 1) files[`many-${n}/SKILL.md`] = skill(`many-${n}`);
  return files;
};
