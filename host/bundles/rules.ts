/**
 * What the parts of a manifest must be to each other: paths that are files on every system, entries that are
 * content, topics that are used as what they are, tools that something handles, skill folders with a skill's name.
 * Pure; returns everything that is wrong.
 */
import { collisionKey, collisions, relativeSegments, shownPath } from '../paths/index.ts';
import { type Problem, problem } from '../problems/index.ts';
import { bundleBounds, overLimit } from './bounds.ts';
import type { Manifest } from './edge.ts';
import { schemaFaults } from './shape.ts';
import { skillFaults } from './skills.ts';

const ascii = (path: string): string =>
  Array.from(path.slice(0, 300), (char) =>
    /[\x20-\x7e]/.test(char) ? char : `\\u{${char.codePointAt(0)?.toString(16)}}`,
  ).join('');

/** `bundle/path-collision`, naming both; evidence tells apart what looks alike. */
export const collisionFault = (one: string, other: string): Problem =>
  problem('bundle/path-collision', {
    subject: shownPath(other),
    message:
      one === other
        ? `"${shownPath(one)}" is there twice.`
        : `"${shownPath(one)}" and "${shownPath(other)}" are one file on some systems.`,
    evidence: `"${ascii(one)}" and "${ascii(other)}"`,
  });

export const collisionFaults = (paths: Iterable<string>): readonly Problem[] =>
  collisions(paths).map(([one, other]) => collisionFault(one, other));

/** Faults a list of content paths has by itself, collisions first. */
export const pathFaults = (paths: readonly string[]): readonly Problem[] => [
  ...collisionFaults(['bundle.json', ...paths]),
  ...paths.flatMap((path) => {
    const segments = relativeSegments(path);
    if (!segments.ok) return [segments.problem];
    if (segments.value.length > bundleBounds.depth)
      return [overLimit('depth', segments.value.length, shownPath(path))];
    return [];
  }),
  ...paths
    .filter((path) => /^skills\/[^/]+\/\.bearpunch-placed\.json(\/|$)/.test(collisionKey(path)))
    .map((path) =>
      problem('bundle/path-reserved', {
        subject: shownPath(path),
        message: 'The path is reserved: the station writes its own record of a placed skill there.',
      }),
    ),
  ...paths
    .filter((path) => /^bundle\.sig\.json(\/|$)/.test(collisionKey(path)))
    .map((path) =>
      problem('bundle/path-reserved', {
        subject: shownPath(path),
        message: "The path is reserved: a bundle's signature stands there, and is no content.",
      }),
    ),
  ...skillFaults(paths),
];

const repeated = (names: readonly string[]): readonly string[] => [
  ...new Set(names.filter((name, index) => names.indexOf(name) !== index)),
];

export const manifestFaults = (manifest: Manifest): readonly Problem[] => {
  const invalid = (place: string, message: string): Problem =>
    problem('bundle/manifest-invalid', {
      subject: `bundle.json: ${place}`,
      message: `"${place}" ${message}.`,
    });
  const paths = manifest.content.map((file) => file.path);
  const content = new Set(paths);
  const kinds = new Map(manifest.topics.map((topic) => [topic.id, topic.kind]));
  const handled = new Set(manifest.components.flatMap((component) => component.handles));
  const total = manifest.content.reduce((sum, file) => sum + file.size, 0);

  const components = manifest.components.flatMap((component, index) => {
    const at = `components[${index}]`;
    const entry = !component.entry.endsWith('.wasm')
      ? [invalid(`${at}.entry`, 'does not name a .wasm file')]
      : content.has(component.entry)
        ? []
        : [
            invalid(
              `${at}.entry`,
              `names "${shownPath(component.entry)}", which is not content of the bundle`,
            ),
          ];
    return [
      ...entry,
      ...component.handles
        .filter((topic) => kinds.get(topic) === 'event')
        .map((topic) => invalid(`${at}.handles`, `names "${topic}", which is an event; subscribe to it`)),
      ...component.subscribes
        .filter((topic) => kinds.get(topic) === 'command')
        .map((topic) => invalid(`${at}.subscribes`, `names "${topic}", which is a command; handle it`)),
      // The station alone speaks as `station.`: a component that could would be believed by the others.
      ...[...component.handles, ...component.publishes]
        .filter((topic) => topic.startsWith('station.'))
        .map((topic) =>
          invalid(at, `uses "${topic}": topics of the station are not for components to use so`),
        ),
    ];
  });
  const topics = manifest.topics.flatMap((topic, index) => [
    ...(topic.id.startsWith('station.')
      ? [invalid(`topics[${index}].id`, 'begins with "station.", which is the station\'s own')]
      : []),
    ...Object.entries(topic.shape).flatMap(([part, schema]) =>
      schemaFaults(schema, part).map((fault) =>
        problem('bundle/shape-invalid', {
          subject: `${topic.id}: ${shownPath(fault.path)}`,
          message: `The shape of topic "${topic.id}" is wrong: "${shownPath(fault.path)}" ${fault.message}.`,
        }),
      ),
    ),
  ]);
  const tools = manifest.tools.flatMap((tool, index) =>
    handled.has(tool.topic)
      ? []
      : [invalid(`tools[${index}].topic`, `names "${tool.topic}", which no component of the bundle handles`)],
  );
  return [
    ...pathFaults(paths),
    ...(total > bundleBounds.totalBytes ? [overLimit('totalBytes', total)] : []),
    ...repeated(manifest.components.map(({ id }) => id)).map((id) =>
      invalid('components', `has "${id}" twice`),
    ),
    ...repeated(manifest.topics.map(({ id }) => id)).map((id) => invalid('topics', `has "${id}" twice`)),
    ...repeated(manifest.tools.map(({ name }) => name)).map((name) =>
      invalid('tools', `has "${name}" twice`),
    ),
    ...components,
    ...topics,
    ...tools,
  ];
};
