/** `bundle …`: packing and looking need no station; everything else is the station's. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { failed, ok, type Result } from '../problems/index.ts';
import { bundleRows, bundleText, installedText, uninstalledText, verdicts } from './bundle-text.ts';
import { counted, problemText, type Run, short, shown, table } from './output.ts';
import { example, group } from './usage.ts';
import { answer, ask } from './with-station.ts';

/** A problem of a source names it. */
const about = <T>(source: string, found: Result<T>): Result<T> =>
  found.ok ? found : failed({ ...found.problem, subject: found.problem.subject ?? source });

const plainSink = { write: () => {}, colour: false };

export const addBundleCommands = (program: Command, run: Run): void => {
  const bundle = group(program, 'bundle', 'pack, check and install bundles', 'bundle install ./my-bundle');
  example(
    bundle
      .command('pack')
      .argument('<dir>', 'folder of the bundle')
      .option('-o, --out <place>', 'write the packed bundle there: a folder, or an archive (.tgz)')
      .option('--sign <key>', 'sign it with a private key (see `jupiter bundle keygen`)')
      .description('compute digests and sizes and write bundle.json'),
    'bundle pack ./my-bundle',
    'bundle pack ./my-bundle -o my-bundle.tgz --sign ./signing-key.pem',
  ).action((dir: string, { out, sign }: { out?: string; sign?: string }) =>
    run(async () => {
      const { packBundle, readKey } = await import('../bundles/index.ts');
      const key = sign === undefined ? undefined : readKey(resolve(sign));
      if (key !== undefined && !key.ok) return key;
      const place = out === undefined ? undefined : resolve(out);
      const packed = await packBundle(resolve(dir), place, key?.value);
      if (!packed.ok)
        return about(
          (packed.problem.code === 'bundle/write-failed' ? place : undefined) ?? resolve(dir),
          packed,
        );
      const { manifest, identity, folder, signature } = packed.value;
      const { id, version, content } = manifest;
      const signed = signature === undefined ? [] : [`signed by ${signature.key}`];
      const { skillWarnings } = await import('./skill-warnings.ts');
      const warnings = skillWarnings(packed.value, resolve(dir));
      return ok({
        json: {
          id,
          version,
          revision: identity,
          files: content.length,
          folder,
          ...(signature === undefined ? {} : { signedBy: signature.key }),
          warnings,
        },
        plain: [
          `${id} ${version}  ${short(identity)}  ${counted(content.length, 'file')}  ${folder}`,
          ...signed,
          ...warnings.map((one) => problemText(one, plainSink, 'warning:')),
        ].join('\n'),
      });
    }),
  );
  example(
    bundle
      .command('keygen')
      .option('-o, --out <file>', 'where the private key goes', 'signing-key.pem')
      .description('make a key to sign bundles with; prints the public one'),
    'bundle keygen -o ~/keys/bundles.pem',
  ).action(({ out }: { out: string }) =>
    run(async () => {
      const { makeKey } = await import('../bundles/index.ts');
      const made = makeKey(resolve(out));
      if (!made.ok) return made;
      const { file, key } = made.value;
      return ok({
        json: { file, key },
        plain: `private key  ${file}, readable by you only: keep it, and give it to nobody\npublic key   ${key}`,
      });
    }),
  );
  example(
    bundle
      .command('diagnose')
      .argument('<src>', 'folder or archive (.tgz) of the bundle')
      .description('find everything wrong with a bundle; changes nothing'),
    'bundle diagnose ./my-bundle',
  ).action((src: string) =>
    run(async (io) => {
      const { diagnose } = await import('./diagnose.ts');
      const found = await diagnose(resolve(src), io);
      const { problems, warnings, unchecked, id, version, revision, station } = found;
      const lines = [
        ...(id === undefined ? [] : [`${id} ${version}  ${short(revision ?? '')}`]),
        ...problems.map((one) => problemText(one, plainSink)),
        ...warnings.map((one) => problemText(one, plainSink, 'warning:')),
        ...(station === undefined ? [] : [`station: ${station.text}`]),
        ...unchecked.map(({ what, why }) =>
          problems.includes(why)
            ? `not checked: ${what}`
            : `not checked: ${what} (${shown(`${why.message} ${why.code}`)})`,
        ),
        problems.length === 0 ? 'nothing wrong' : `${problems.length} wrong`,
      ];
      return ok({ json: found, plain: lines.join('\n'), ...(problems.length === 0 ? {} : { exit: 1 }) });
    }),
  );
  example(
    bundle
      .command('install')
      .argument('<src>', 'folder or archive (.tgz) of the bundle')
      .description('verify, stage and activate a bundle; says what it asks for'),
    'bundle install ./my-bundle',
    'bundle install my-bundle.tgz',
  ).action((src: string) =>
    run(async (io) => {
      const installed = about(resolve(src), await ask(io, 'bundle.install', { source: resolve(src) }));
      if (!installed.ok) return installed;
      // Installed, and still not all of what was meant where a component of it did not start.
      const failed = installed.value.components.some(
        ({ candidate }) => candidate !== undefined && candidate.problem.code !== 'bundle/not-granted',
      );
      return ok({
        json: installed.value,
        plain: installedText(installed.value, io),
        ...(failed ? { exit: 1 as const } : {}),
      });
    }),
  );
  const granting = (name: 'grant' | 'revoke', which: string, description: string): void => {
    example(
      bundle
        .command(name)
        .argument('<id>', 'the bundle')
        .argument('[permission...]', which)
        .description(description),
      `bundle ${name} example.notes`,
      `bundle ${name} example.notes store:own`,
    ).action((id: string, permissions: string[]) =>
      run((io) =>
        answer(
          io,
          `bundle.${name}`,
          permissions.length === 0 ? { id } : { id, permissions },
          ({ permissions: changed, policyRevision }) =>
            changed.length === 0
              ? `nothing to change: policy grants ${shown(id)} ${name === 'grant' ? 'all of it' : 'nothing of it'}`
              : `${name === 'grant' ? 'granted' : 'revoked'}: ${changed.join(', ')}; the policy is now ${short(policyRevision)}`,
        ),
      ),
    );
  };
  granting(
    'grant',
    'default: all that it asks for',
    'let a bundle have permissions; policy.jsonc keeps its comments',
  );
  granting('revoke', 'default: all that it has', 'take permissions away; bites at the next effect');
  example(bundle.command('list').description('installed bundles and what they run'), 'bundle list').action(
    () =>
      run((io) =>
        answer(io, 'bundle.list', {}, ({ bundles }) =>
          bundles.length === 0 ? 'no bundles' : table(bundleRows(bundles)),
        ),
      ),
  );
  example(
    bundle
      .command('verify')
      .argument('[id]', 'one bundle')
      .description('read every byte again: packages, what was generated from them, skills in workspaces'),
    'bundle verify',
    'bundle verify bearpunch.sessions',
  ).action((id: string | undefined) =>
    run(async (io) => {
      const found = await ask(io, 'bundle.verify', id === undefined ? {} : { id });
      if (!found.ok) return found;
      const { json, plain, damaged } = verdicts(found.value);
      return ok({ json, plain, ...(damaged ? { exit: 1 as const } : {}) });
    }),
  );
  example(
    bundle
      .command('retry')
      .argument('<component>', 'bundle:component')
      .description('start a component again that failed too often'),
    'bundle retry bearpunch.adapter:adapter',
  ).action((component: string) => run((io) => answer(io, 'bundle.retry', { component }, bundleText)));
  example(
    bundle
      .command('uninstall')
      .argument('<id>', 'the bundle')
      .description('stop, forget and remove a bundle; takes back placed skills nobody edited'),
    'bundle uninstall example.notes',
  ).action((id: string) =>
    run((io) => answer(io, 'bundle.uninstall', { id }, (gone) => uninstalledText(gone, io))),
  );
};
