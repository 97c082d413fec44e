/** `bundle …`: packing and looking need no station; everything else is the station's. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { ok } from '../problems/index.ts';
import { problemText, type Run, short, table } from './output.ts';
import { bundleRows, bundleText } from './show.ts';
import { example, group } from './usage.ts';
import { answer, ask } from './with-station.ts';

const plainSink = { write: () => {}, colour: false };

export const addBundleCommands = (program: Command, run: Run): void => {
  const bundle = group(program, 'bundle', 'pack, check and install bundles', 'bundle install ./my-bundle');
  example(
    bundle
      .command('pack')
      .argument('<dir>', 'folder of the bundle')
      .option('-o, --out <dir>', 'write the packed bundle there instead of into <dir>')
      .description('compute digests and sizes and write bundle.json'),
    'bundle pack ./my-bundle',
  ).action((dir: string, { out }: { out?: string }) =>
    run(async () => {
      const { packBundle } = await import('../bundles/index.ts');
      const packed = await packBundle(resolve(dir), out === undefined ? undefined : resolve(out));
      if (!packed.ok) return packed;
      const { manifest, identity, folder } = packed.value;
      const { id, version, content } = manifest;
      return ok({
        json: { id, version, revision: identity, files: content.length, folder },
        plain: `${id} ${version}  ${short(identity)}  ${content.length} files  ${folder}`,
      });
    }),
  );
  example(
    bundle
      .command('diagnose')
      .argument('<src>', 'folder of the bundle')
      .description('find everything wrong with a bundle; changes nothing'),
    'bundle diagnose ./my-bundle',
  ).action((src: string) =>
    run(async (io) => {
      const { diagnose } = await import('./diagnose.ts');
      const found = await diagnose(resolve(src), io);
      const { problems, warnings, id, version, revision, station } = found;
      const lines = [
        ...(id === undefined ? [] : [`${id} ${version}  ${short(revision ?? '')}`]),
        ...problems.map((one) => problemText(one, plainSink)),
        ...warnings.map((one) => problemText(one, plainSink, 'warning:')),
        ...(station === undefined ? [] : [`station: ${station.text}`]),
        problems.length === 0 ? 'nothing wrong' : `${problems.length} wrong`,
      ];
      return ok({ json: found, plain: lines.join('\n'), ...(problems.length === 0 ? {} : { exit: 1 }) });
    }),
  );
  example(
    bundle
      .command('install')
      .argument('<src>', 'folder of the bundle')
      .description('verify, stage and activate a bundle'),
    'bundle install ./my-bundle',
  ).action((src: string) => run((io) => answer(io, 'bundle.install', { source: resolve(src) }, bundleText)));
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
      .description('read every byte of installed bundles again'),
    'bundle verify',
    'bundle verify bearpunch.sessions',
  ).action((id: string | undefined) =>
    run(async (io) => {
      const found = await ask(io, 'bundle.verify', id === undefined ? {} : { id });
      if (!found.ok) return found;
      const { bundles } = found.value;
      const plain = bundles
        .map((one) =>
          one.problem === undefined
            ? `${one.id}  intact`
            : `${one.id}\n${problemText(one.problem, plainSink)}`,
        )
        .join('\n');
      const damaged = bundles.some((one) => one.problem !== undefined);
      return ok({ json: found.value, plain, ...(damaged ? { exit: 1 } : {}) });
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
      .description('stop, forget and remove a bundle'),
    'bundle uninstall example.notes',
  ).action((id: string) =>
    run((io) =>
      answer(
        io,
        'bundle.uninstall',
        { id },
        ({ id: gone, revision }) => `${gone} ${short(revision)} uninstalled`,
      ),
    ),
  );
};
