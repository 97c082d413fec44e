import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { lstatSync, mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { digestOfFiles, readSkillFolder, skillLimits } from '../../host/skills/index.ts';
import { strayed, surveyFolder, type Visit } from '../../host/skills/survey.ts';
import { got, openDesk, refused, skillText } from './desk.ts';

const sha256 = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

test('S1, S2: every file is listed with the digest and size of its raw bytes, in byte order', (t) => {
  const desk = openDesk(t);
  const document = `\ufeff${skillText('deploy').replaceAll('\n', '\r\n')}`;
  const large = Buffer.alloc(600_000, 7);
  desk.write('deploy/SKILL.md', document);
  desk.write('deploy/scripts/run.sh', 'echo run\n');
  desk.write('deploy/scripts/.hidden', '');
  desk.write('deploy/é.bin', large);
  desk.write('deploy/.git/config', 'no part of it');
  desk.write('deploy/.DS_Store', 'no part of it');
  const folder = got(readSkillFolder(desk.at('deploy')));
  assert.deepEqual(folder.files, [
    { path: 'SKILL.md', sha256: sha256(document), size: Buffer.byteLength(document) },
    { path: 'scripts/.hidden', sha256: sha256(''), size: 0 },
    { path: 'scripts/run.sh', sha256: sha256('echo run\n'), size: 9 },
    { path: 'é.bin', sha256: sha256(large), size: 600_000 },
  ]);
  assert.equal(folder.digest, digestOfFiles(folder.files));
  assert.equal(folder.size, 600_009 + Buffer.byteLength(document));
  assert.deepEqual(Buffer.from(got(folder.read('é.bin'))), large);
  assert.equal(refused(folder.read('../deploy/SKILL.md')).code, 'skill/unreadable');
});

test('S15: each limit is named with the number that was found', (t) => {
  const desk = openDesk(t);
  const sized = (path: string, bytes: number) => truncateSync(desk.write(path, ''), bytes);
  for (const name of ['large', 'many', 'total', 'document', 'deep', 'full'])
    desk.write(`${name}/SKILL.md`, skillText(name));
  sized('large/video.bin', 20_000_000);
  for (let index = 0; index < 599; index += 1) desk.write(`many/f${index}`, '');
  for (let index = 0; index < 17; index += 1) sized(`total/part${index}`, 1_048_576);
  sized('document/SKILL.md', 1_048_577);
  desk.write(`deep/${'d/'.repeat(17)}x`, '');
  const table = [
    ['large', 'skill/file-too-large', /^20000000 bytes; at most 16777216$/, 'large/video.bin'],
    ['many', 'skill/too-many-files', /^600 files; at most 512$/, 'many'],
    ['total', 'skill/too-large', /^178\d{5} bytes; at most 16777216$/, 'total'],
    ['document', 'skill/document-too-large', /^1048577 bytes; at most 1048576$/, 'document/SKILL.md'],
    ['deep', 'skill/too-deep', /^more than 16 folders$/, `deep${'/d'.repeat(17)}`],
  ] as const;
  for (const [name, code, evidence, subject] of table) {
    const found = refused(readSkillFolder(desk.at(name)));
    assert.equal(found.code, code);
    assert.match(found.evidence ?? '', evidence);
    assert.equal(found.subject, subject);
  }
  for (let index = 0; index < 511; index += 1) desk.write(`full/f${index}`, '');
  sized('full/f0', 16_777_216 - Buffer.byteLength(skillText('full')));
  const full = got(readSkillFolder(desk.at('full')));
  assert.deepEqual([full.files.length, full.size], [512, 16_777_216]);
});

test('S13: a link in a skill is refused with the kind of its target, never its content', (t) => {
  const desk = openDesk(t);
  desk.write('private/secret.txt', 'CANARY');
  desk.write('deploy/own.txt', 'own');
  const targets = [
    [desk.at('private'), 'a link to a folder outside the skill'],
    [desk.at('private/secret.txt'), 'a link to a file outside the skill'],
    [desk.at('deploy/own.txt'), 'a link to a file inside the skill'],
    [desk.at('nowhere'), 'a link to nothing'],
  ] as const;
  for (const [target, evidence] of targets) {
    for (const place of ['deploy/linked', 'deploy/SKILL.md']) {
      rmSync(desk.at('deploy/SKILL.md'), { force: true });
      if (place !== 'deploy/SKILL.md') desk.write('deploy/SKILL.md', skillText('deploy'));
      symlinkSync(target, desk.at(place));
      const found = refused(readSkillFolder(desk.at('deploy')));
      assert.equal(found.code, 'skill/link');
      assert.equal(found.subject, place);
      assert.equal(found.evidence, evidence);
      assert.ok(!JSON.stringify(found).includes('CANARY'));
      rmSync(desk.at(place));
    }
  }
  desk.write('deploy/SKILL.md', skillText('deploy'));
  symlinkSync(desk.at('deploy'), desk.at('alias'));
  assert.equal(refused(readSkillFolder(desk.at('alias'))).code, 'skill/link');
});

test('S5: what is no file, has no name every system can hold, or is not there, is refused by name', (t) => {
  const desk = openDesk(t);
  for (const name of ['pipe', 'twins', 'device']) desk.write(`${name}/SKILL.md`, skillText(name));
  execFileSync('mkfifo', [desk.at('pipe/events')]);
  desk.write('twins/Read.md', '');
  desk.write('twins/read.md', '');
  desk.write('device/aux.txt', '');
  mkdirSync(desk.at('folder/SKILL.md'), { recursive: true });
  mkdirSync(desk.at('empty'));
  const codes = Object.fromEntries(
    ['pipe', 'twins', 'device', 'folder', 'empty', 'missing'].map((name) => [
      name,
      refused(readSkillFolder(desk.at(name))).code,
    ]),
  );
  assert.deepEqual(codes, {
    pipe: 'skill/not-a-file',
    twins: 'skill/path-unsafe',
    device: 'skill/path-unsafe',
    folder: 'skill/no-document',
    empty: 'skill/no-document',
    missing: 'skill/no-document',
  });
});

test('S17: after a change the listed bytes are gone, and said to be', (t) => {
  const desk = openDesk(t);
  desk.write('deploy/SKILL.md', skillText('deploy'));
  desk.write('deploy/a/data.txt', 'one');
  const folder = got(readSkillFolder(desk.at('deploy')));
  assert.equal(Buffer.from(got(folder.read('a/data.txt'))).toString(), 'one');
  writeFileSync(desk.at('deploy/a/data.txt'), 'two');
  assert.equal(refused(folder.read('a/data.txt')).code, 'skill/changed');
  desk.write('elsewhere/data.txt', 'CANARY');
  renameSync(desk.at('deploy/a'), desk.at('deploy/b'));
  symlinkSync(desk.at('elsewhere'), desk.at('deploy/a'));
  const found = refused(folder.read('a/data.txt'));
  assert.equal(found.code, 'skill/changed');
  assert.ok(!JSON.stringify(found).includes('CANARY'));
});

test('S13: a folder that is a link for the moment of one read is found out afterwards', (t) => {
  const desk = openDesk(t);
  desk.write('deploy/SKILL.md', skillText('deploy'));
  desk.write('deploy/sub/data.txt', 'own');
  desk.write('private/data.txt', 'CANARY');
  const swapping: Visit = (place, path) => {
    if (path !== 'sub/data.txt') return { ok: true, value: { stat: lstatSync(place) } };
    renameSync(desk.at('deploy/sub'), desk.at('deploy/aside'));
    symlinkSync(desk.at('private'), desk.at('deploy/sub'));
    const stat = lstatSync(place);
    rmSync(desk.at('deploy/sub'));
    renameSync(desk.at('deploy/aside'), desk.at('deploy/sub'));
    return { ok: true, value: { stat, sha256: sha256('CANARY') } };
  };
  const survey = got(surveyFolder(desk.at('deploy'), 'deploy', skillLimits, swapping));
  assert.notEqual(strayed(desk.at('deploy'), survey), undefined);
  // Even where no time of a folder has moved on, the file is another one.
  const files = survey.files.filter(({ path }) => path === 'sub/data.txt');
  const quiet = got(surveyFolder(desk.at('deploy'), 'deploy', skillLimits));
  assert.equal(strayed(desk.at('deploy'), quiet), undefined);
  assert.equal(strayed(desk.at('deploy'), { ...quiet, files }), 'sub/data.txt');
});

// Writes twelve files in order, over and over, each round one digit, with a rest between rounds; says when it has begun.
const writerSource = `
import { writeFileSync, writeSync } from 'node:fs';
const rest = new Int32Array(new SharedArrayBuffer(4));
for (let round = 1; ; round += 1) {
  for (let index = 0; index < 12; index += 1) {
    const name = String(index).padStart(2, '0');
    writeFileSync(process.argv[1] + '/f' + name, String(round % 10).repeat(1_000));
  }
  if (round === 1) writeSync(1, 'begun');
  Atomics.wait(rest, 0, 0, Number(process.argv[2]));
}`;

// At rest for long enough, the files are old when reading begins; without a rest they never are.
for (const rest of [0, 60]) {
  test(`S17: while another process writes (rest: ${rest} ms), what is listed is one moment, never a mixture`, async (t) => {
    const desk = openDesk(t);
    desk.write('deploy/SKILL.md', skillText('deploy'));
    // Long to hash, so that a whole round of the writer fits between two of its files (folders list in any order).
    for (let index = 0; index < 6; index += 1)
      desk.write(`deploy/large-${index}`, Buffer.alloc(2 * 1_048_576));
    const versions = new Map(
      Array.from({ length: 10 }, (_, digit) => [sha256(String(digit).repeat(1_000)), digit] as const),
    );
    const writer = spawn(process.execPath, [
      '--input-type=module',
      '-e',
      writerSource,
      desk.at('deploy'),
      String(rest),
    ]);
    t.after(() => writer.kill('SIGKILL'));
    await once(writer.stdout, 'data');
    const until = performance.now() + 1_200;
    while (performance.now() < until) {
      const found = readSkillFolder(desk.at('deploy'));
      if (!found.ok) {
        assert.equal(found.problem.code, 'skill/changed');
        continue;
      }
      // The writer is at one file: those before it have its round, those behind it the one before.
      const files = found.value.files.filter(({ path }) => path.startsWith('f'));
      const rounds = files.map(({ sha256: digest }) => versions.get(digest));
      const written = rounds.filter((digit) => digit !== undefined);
      const first = written[0] ?? 0;
      const older = written.findIndex((digit) => digit !== first);
      const behind = older === -1 ? [] : written.slice(older);
      assert.ok(
        behind.every((digit) => digit === (first + 9) % 10),
        rounds.join(' '),
      );
      assert.ok(rounds.length - written.length <= 1, rounds.join(' '));
    }
  });
}
