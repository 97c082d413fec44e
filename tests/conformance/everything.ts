/**
 * A server with everything the conformance suite calls by name, on the official SDK: over HTTP where it is asked alone,
 * over standard input (`everything.ts stdio`) where the gateway stands in front of it.
 */
import {
  acceptedContent,
  createMcpHandler,
  inputRequired,
  McpServer,
  ResourceTemplate,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const wave = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';
const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });
const image = { type: 'image' as const, data: pixel, mimeType: 'image/png' };
const embedded = (uri: string, mimeType: string, value: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType, text: value },
});

export const everything = (): McpServer => {
  const server = new McpServer(
    { name: 'everything', version: '1.0.0' },
    { capabilities: { logging: {}, completions: {}, resources: { subscribe: true, listChanged: true } } },
  );
  const description = 'What the suite calls.';
  const empty = { description, inputSchema: z.object({}) };
  server.registerTool('test_simple_text', empty, () => text('This is a simple text response for testing.'));
  server.registerTool('test_image_content', empty, () => ({ content: [image] }));
  server.registerTool('test_audio_content', empty, () => ({
    content: [{ type: 'audio', data: wave, mimeType: 'audio/wav' }],
  }));
  server.registerTool('test_embedded_resource', empty, () => ({
    content: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  }));
  server.registerTool('test_multiple_content_types', empty, () => ({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      image,
      embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  }));
  server.registerTool('test_error_handling', empty, () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
  server.registerTool('test_tool_with_logging', empty, async (_args, ctx) => {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await ctx.mcpReq.log('info', data);
    }
    return text('logged');
  });
  server.registerTool('test_tool_with_progress', empty, async (_args, ctx) => {
    const { progressToken } = ctx.mcpReq._meta ?? {};
    for (const progress of [0, 50, 100]) {
      if (progressToken === undefined) break;
      await ctx.mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress, total: 100 },
      });
    }
    return text(String(progressToken ?? ''));
  });
  const asks = { message: z.string() };
  server.registerTool(
    'test_elicitation',
    { ...empty, inputSchema: z.object(asks) },
    async ({ message }, ctx) => {
      const properties = { username: { type: 'string' as const }, email: { type: 'string' as const } };
      const answer = await ctx.mcpReq.elicitInput({
        message,
        requestedSchema: { type: 'object', properties, required: ['username', 'email'] },
      });
      return text(`User response: ${JSON.stringify(answer)}`);
    },
  );
  server.registerTool(
    'test_sampling',
    { ...empty, inputSchema: z.object({ prompt: z.string() }) },
    async ({ prompt }, ctx) => {
      const answer = await ctx.mcpReq.requestSampling({
        messages: [{ role: 'user', content: { type: 'text', text: prompt } }],
        maxTokens: 100,
      });
      return text(`LLM response: ${JSON.stringify(answer.content)}`);
    },
  );
  server.registerTool('test_input_required_result_elicitation', empty, (_args, ctx) => {
    const found = acceptedContent(ctx.mcpReq.inputResponses, 'user_name');
    if (found !== undefined) return text(`Hello, ${JSON.stringify(found)}`);
    return inputRequired({
      inputRequests: {
        user_name: inputRequired.elicit({
          message: 'What is your name?',
          requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
        }),
      },
    });
  });
  server.registerResource('text', 'test://static-text', { mimeType: 'text/plain' }, ({ href }) => ({
    contents: [
      { uri: href, mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
    ],
  }));
  server.registerResource('binary', 'test://static-binary', { mimeType: 'image/png' }, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'image/png', blob: pixel }],
  }));
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
  server.registerResource('template', template, { mimeType: 'application/json' }, ({ href }, { id }) => ({
    contents: [
      {
        uri: href,
        mimeType: 'application/json',
        text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
      },
    ],
  }));
  server.server.setRequestHandler('resources/subscribe', () => ({}));
  server.server.setRequestHandler('resources/unsubscribe', () => ({}));
  const said = (...content: readonly object[]) => ({
    messages: content.map((one) => ({
      role: 'user' as const,
      content: one as ReturnType<typeof text>['content'][0],
    })),
  });
  server.registerPrompt('test_simple_prompt', { description }, () =>
    said({ type: 'text', text: 'This is a simple prompt for testing.' }),
  );
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description, argsSchema: z.object({ arg1: z.string(), arg2: z.string() }) },
    ({ arg1, arg2 }) => said({ type: 'text', text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` }),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description, argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) =>
      said(embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.'), {
        type: 'text',
        text: 'Please process the embedded resource above.',
      }),
  );
  server.registerPrompt('test_prompt_with_image', { description }, () =>
    said(image, { type: 'text', text: 'Please analyze the image above.' }),
  );
  server.server.setRequestHandler('completion/complete', () => ({
    completion: { values: ['paris'], total: 1, hasMore: false },
  }));
  return server;
};

export const everythingHandler = () => createMcpHandler(everything);

if (process.argv[2] === 'stdio') serveStdio(everything);
