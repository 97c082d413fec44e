/**
 * Admission: a component's bytes are read, judged and bounded before anything is generated from them, then transpiled
 * once and kept in the cache. Every call judges again, since what a component may import depends on its manifest.
 */
import { join } from 'node:path';
import { failed, ok, type Problem, ProblemError, type Result, refuse } from '../problems/index.ts';
import { readComponent } from './admission/component.ts';
import { limitComponent, memoryPlan } from './admission/rewrite.ts';
import { judge, type Surface } from './admission/rules.ts';
import type { ComponentTree } from './admission/scope.ts';
import { discardEntry, readEntry, sha256, writeEntry } from './cache.ts';
import type { AdmissionOptions, AdmitComponent, AdmittedComponent } from './edge.ts';
import { type ComponentLimits, transpileLimits } from './limits.ts';
import { generatorVersion } from './transpile/tools.ts';
import { transpile } from './transpile/transpile.ts';

/** Raised whenever the same bytes would now be rewritten or generated differently. */
const admissionVersion = 1;

const keyOf = (digest: string, limits: ComponentLimits): string =>
  sha256(
    JSON.stringify([
      admissionVersion,
      digest,
      generatorVersion(),
      process.versions.node.split('.')[0],
      limits.memoryBytes,
      limits.tableElements,
    ]),
  );

/** What is wrong with a component, or what it shows and its tree. Generates nothing. */
export const inspectComponent = (
  bytes: Uint8Array,
  permissions: readonly string[],
): Result<{ readonly tree: ComponentTree; readonly surface: Surface }> => {
  if (bytes.length > transpileLimits.componentBytes) {
    return refuse('sandbox/too-large', {
      evidence: `${bytes.length} bytes; ${transpileLimits.componentBytes} are allowed`,
    });
  }
  try {
    const tree = readComponent(bytes);
    const surface = judge(tree, permissions);
    return surface.ok ? ok({ tree, surface: surface.value }) : surface;
  } catch (error) {
    if (error instanceof ProblemError) return failed(error.problem);
    throw error;
  }
};

const generated = async (
  bytes: Uint8Array,
  tree: ComponentTree,
  limits: ComponentLimits,
): ReturnType<typeof transpile> => {
  const plan = memoryPlan(tree, limits);
  return plan.ok ? transpile(limitComponent(bytes, tree, plan.value)) : plan;
};

export const admitComponent: AdmitComponent = async (
  bytes: Uint8Array,
  options: AdmissionOptions,
): Promise<Result<AdmittedComponent>> => {
  const inspected = inspectComponent(bytes, options.permissions);
  if (!inspected.ok) return inspected;
  const { tree, surface } = inspected.value;
  const digest = sha256(bytes);
  const key = keyOf(digest, options.limits);
  const folder = join(options.cache, key);
  const admitted = (discarded?: Problem): Result<AdmittedComponent> =>
    ok({
      digest,
      folder,
      imports: surface.imports,
      wit: surface.wit,
      ...(discarded === undefined ? {} : { discarded }),
    });

  const cached = await readEntry(folder);
  if (cached.ok && cached.value?.component === digest) return admitted();
  if (!cached.ok && cached.problem.code !== 'sandbox/cache-changed') return cached;
  const stays = await discardEntry(folder);
  if (stays !== undefined) return failed(stays);
  const files = await generated(bytes, tree, options.limits);
  if (!files.ok) return files;
  const written = await writeEntry(options.cache, key, { component: digest, surface, files: files.value });
  if (!written.ok) return written;
  return admitted(cached.ok ? undefined : cached.problem);
};

/** What is wrong with the cached files of a component, or undefined; one that has none has nothing wrong. */
export const verifyCached = async (
  bytes: Uint8Array,
  { cache, limits }: Pick<AdmissionOptions, 'cache' | 'limits'>,
): Promise<Problem | undefined> => {
  const entry = await readEntry(join(cache, keyOf(sha256(bytes), limits)));
  return entry.ok ? undefined : entry.problem;
};

/** Reads every generated file again and compares it; call before each start. */
export const verifyAdmitted = async (component: AdmittedComponent): Promise<Result<AdmittedComponent>> => {
  const entry = await readEntry(component.folder);
  if (!entry.ok) return entry;
  return entry.value?.component === component.digest
    ? ok(component)
    : refuse('sandbox/cache-changed', {
        subject: component.folder.split(/[\\/]/).at(-1) ?? '',
        evidence: 'no entry for this component',
      });
};
