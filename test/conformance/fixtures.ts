/**
 * What the official suite expects to find on a server: fixed tools, resources and prompts. Mounted in place of the host's
 * own tools, on the host's own HTTP server, authentication and protocol handling, so that those are what is judged.
 */
import {
  createRequestStateCodec,
  type InputRequiredResult,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { attachTasks } from '../../host/api/mcp/task-extension.ts';
import { callTaskTool, extensionTasksOfSuite, taskToolNames } from './task-fixtures.ts';

type Json = Record<string, unknown>;
interface FixtureTool {
  description: string;
  inputSchema?: Json;
  run(args: Json, ctx: ServerContext): Promise<Json> | Json;
}

/** One red pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC';
/** A header and no samples. */
const WAV = Buffer.from(
  '524946462400000057415645666d74201000000001000100401f0000803e0000020010006461746100000000',
  'hex',
).toString('base64');

const said = (words: string): Json => ({ content: [{ type: 'text', text: words }] });
const pause = () => new Promise((resolve) => setTimeout(resolve, 50));
const object = (properties: Json = {}, required: string[] = []): Json => ({ type: 'object', properties, required });
const textSchema = { type: 'string' };

const elicit = (message: string, properties: Json, required = Object.keys(properties)) => ({
  method: 'elicitation/create',
  params: { message, mode: 'form', requestedSchema: object(properties, required) },
});
const sample = (words: string, maxTokens: number) => ({
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text: words } }], maxTokens },
});
const roots = { method: 'roots/list', params: {} };
const ask = (inputRequests: Json, requestState?: string): Json => ({
  resultType: 'input_required',
  inputRequests,
  ...(requestState !== undefined && { requestState }),
});

const states = createRequestStateCodec<{ step: number }>({ key: 'a key of the conformance profile only' });
const answersOf = (ctx: ServerContext) => (ctx.mcpReq.inputResponses ?? {}) as Record<string, Json | undefined>;
const contentOf = (answer: Json | undefined) => (answer?.content ?? {}) as Json;

const NAME = { user_name: elicit('What is your name?', { name: textSchema }) };
const CONFIRM = { confirm: elicit('Please confirm', { ok: { type: 'boolean' } }) };

async function pushed(ctx: ServerContext, properties: Json, message: string, required?: string[]) {
  const schema = object(properties, required ?? []);
  return ctx.mcpReq.elicitInput({ message, mode: 'form', requestedSchema: schema as never });
}

const tools: Record<string, FixtureTool> = {
  greet: {
    description: 'Greets at once.',
    inputSchema: object({ name: textSchema }, ['name']),
    run: ({ name }) => said(`Hello, ${String(name)}!`),
  },
  test_simple_text: { description: 'Text.', run: () => said('This is a simple text response for testing.') },
  test_image_content: {
    description: 'An image.',
    run: () => ({ content: [{ type: 'image', data: PNG, mimeType: 'image/png' }] }),
  },
  test_audio_content: {
    description: 'A sound.',
    run: () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }),
  },
  test_embedded_resource: {
    description: 'A resource.',
    run: () => ({
      content: [
        {
          type: 'resource',
          resource: {
            uri: 'test://embedded-resource',
            mimeType: 'text/plain',
            text: 'This is an embedded resource content.',
          },
        },
      ],
    }),
  },
  test_multiple_content_types: {
    description: 'Several kinds.',
    run: () => ({
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        { type: 'image', data: PNG, mimeType: 'image/png' },
        {
          type: 'resource',
          resource: {
            uri: 'test://mixed-content-resource',
            mimeType: 'application/json',
            text: JSON.stringify({ test: 'data', value: 123 }),
          },
        },
      ],
    }),
  },
  test_tool_with_logging: {
    description: 'Logs.',
    async run(_args, ctx) {
      await ctx.mcpReq.log('info', 'Tool execution started');
      await pause();
      await ctx.mcpReq.log('info', 'Tool processing data');
      await pause();
      await ctx.mcpReq.log('info', 'Tool execution completed');
      return said('Logged.');
    },
  },
  test_logging_tool: {
    description: 'Logs where the client asked for it.',
    async run(_args, ctx) {
      await ctx.mcpReq.log('info', 'working');
      return said('Logged.');
    },
  },
  test_error_handling: {
    description: 'Fails.',
    run: () => ({ ...said('This tool intentionally returns an error for testing'), isError: true }),
  },
  test_tool_with_progress: {
    description: 'Reports progress.',
    async run(_args, ctx) {
      const token = ctx.mcpReq._meta?.progressToken;
      for (const progress of [0, 50, 100]) {
        if (token !== undefined)
          await ctx.mcpReq.notify({
            method: 'notifications/progress',
            params: { progressToken: token, progress, total: 100 },
          });
        await pause();
      }
      return said('Done.');
    },
  },
  test_sampling: {
    description: 'Asks the client’s model.',
    inputSchema: object({ prompt: textSchema }, ['prompt']),
    async run(args, ctx) {
      const answer = await ctx.mcpReq.requestSampling({
        messages: [{ role: 'user', content: { type: 'text', text: String(args.prompt) } }],
        maxTokens: 100,
      });
      const content = answer.content as { text?: string };
      return said(`LLM response: ${content.text ?? ''}`);
    },
  },
  test_elicitation: {
    description: 'Asks the client’s user.',
    inputSchema: object({ message: textSchema }, ['message']),
    async run(args, ctx) {
      const properties = {
        username: { type: 'string', description: "User's response" },
        email: { type: 'string', description: "User's email address" },
      };
      const answer = await pushed(ctx, properties, String(args.message), ['username', 'email']);
      return said(`User response: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`);
    },
  },
  test_elicitation_sep1034_defaults: {
    description: 'Asks with defaults.',
    async run(_args, ctx) {
      const answer = await pushed(
        ctx,
        {
          name: { type: 'string', default: 'John Doe' },
          age: { type: 'integer', default: 30 },
          score: { type: 'number', default: 95.5 },
          status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
          verified: { type: 'boolean', default: true },
        },
        'Please review',
      );
      return said(`Elicitation completed: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`);
    },
  },
  test_elicitation_sep1330_enums: {
    description: 'Asks with choices.',
    async run(_args, ctx) {
      const options = ['option1', 'option2', 'option3'];
      const titled = ['First', 'Second', 'Third'].map((word, index) => ({ const: `value${index + 1}`, title: word }));
      const answer = await pushed(
        ctx,
        {
          untitledSingle: { type: 'string', enum: options },
          titledSingle: { type: 'string', oneOf: titled },
          legacyEnum: {
            type: 'string',
            enum: ['opt1', 'opt2', 'opt3'],
            enumNames: ['Option One', 'Option Two', 'Option Three'],
          },
          untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
          titledMulti: { type: 'array', items: { anyOf: titled } },
        },
        'Please choose',
      );
      return said(`Elicitation completed: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`);
    },
  },
  test_reconnection: {
    description: 'Closes its stream in the middle.',
    async run(_args, ctx) {
      ctx.http?.closeSSE?.();
      await pause();
      return said('Reconnected.');
    },
  },
  test_missing_capability: {
    description: 'Needs sampling.',
    run(_args, ctx) {
      const declared = (ctx.mcpReq.envelope as Json | undefined)?.['io.modelcontextprotocol/clientCapabilities'] as
        | Json
        | undefined;
      if (!declared?.sampling)
        throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
      return said('Sampling is there.');
    },
  },
  test_streaming_elicitation: {
    description: 'Reports, then asks.',
    async run(_args, ctx) {
      if (answersOf(ctx).user_name) return said('Thank you.');
      return ask(NAME);
    },
  },
  json_schema_2020_12_tool: {
    description: 'Tool with JSON Schema 2020-12 features',
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          $anchor: 'addressDef',
          type: 'object',
          properties: { street: textSchema, city: textSchema },
        },
      },
      properties: {
        name: textSchema,
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: textSchema,
        email: textSchema,
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    },
    run: () => said('ok'),
  },

  test_input_required_result_elicitation: {
    description: 'Asks for a name.',
    run(_args, ctx) {
      const { name } = contentOf(answersOf(ctx).user_name);
      return typeof name === 'string' ? said(`Hello, ${name}!`) : ask(NAME);
    },
  },
  test_input_required_result_sampling: {
    description: 'Asks the client’s model.',
    run(_args, ctx) {
      const answer = answersOf(ctx).capital_question;
      return answer
        ? said(String(contentOf(answer).text ?? JSON.stringify(answer)))
        : ask({ capital_question: sample('What is the capital of France?', 100) });
    },
  },
  test_input_required_result_list_roots: {
    description: 'Asks for roots.',
    run(_args, ctx) {
      const answer = answersOf(ctx).client_roots;
      return answer ? said(`Roots: ${JSON.stringify(answer.roots)}`) : ask({ client_roots: roots });
    },
  },
  test_input_required_result_request_state: {
    description: 'Carries sealed state.',
    async run(_args, ctx) {
      const state = ctx.mcpReq.requestState<{ step: number }>();
      return state?.step === 1 && answersOf(ctx).confirm
        ? said('state-ok')
        : ask(CONFIRM, await states.mint({ step: 1 }));
    },
  },
  test_input_required_result_multiple_inputs: {
    description: 'Asks three things.',
    async run(_args, ctx) {
      const { user_name, greeting, client_roots } = answersOf(ctx);
      if (user_name && greeting && client_roots) return said('All answers are here.');
      const all = { ...NAME, greeting: sample('Generate a greeting', 50), client_roots: roots };
      return ask(all, await states.mint({ step: 1 }));
    },
  },
  test_input_required_result_multi_round: {
    description: 'Asks twice.',
    async run(_args, ctx) {
      const state = ctx.mcpReq.requestState<{ step: number }>();
      const { step1, step2 } = answersOf(ctx);
      if (state?.step === 2 && step2) return said(`Color: ${String(contentOf(step2).color)}`);
      if (state?.step === 1 && step1)
        return ask(
          { step2: elicit('Step 2: What is your favorite color?', { color: textSchema }) },
          await states.mint({ step: 2 }),
        );
      return ask({ step1: elicit('Step 1: What is your name?', { name: textSchema }) }, await states.mint({ step: 1 }));
    },
  },
  test_input_required_result_tampered_state: {
    description: 'Refuses state that was changed.',
    async run(_args, ctx) {
      const state = ctx.mcpReq.requestState<{ step: number }>();
      return state && answersOf(ctx).confirm ? said('state-ok') : ask(CONFIRM, await states.mint({ step: 1 }));
    },
  },
  test_input_required_result_capabilities: {
    description: 'Asks only what the client can answer.',
    run(_args, ctx) {
      const declared = ((ctx.mcpReq.envelope as Json | undefined)?.['io.modelcontextprotocol/clientCapabilities'] ??
        {}) as Json;
      const requests = {
        ...(declared.elicitation !== undefined && NAME),
        ...(declared.sampling !== undefined && { greeting: sample('Generate a greeting', 50) }),
      };
      return Object.keys(requests).length > 0 && Object.keys(answersOf(ctx)).length === 0
        ? ask(requests)
        : said('Done.');
    },
  },
};

const resources = [
  {
    uri: 'test://static-text',
    name: 'Static text',
    description: 'Text that does not change.',
    mimeType: 'text/plain',
    text: 'This is the content of the static text resource.',
  },
  {
    uri: 'test://static-binary',
    name: 'Static binary',
    description: 'One pixel.',
    mimeType: 'image/png',
    blob: PNG,
  },
  {
    uri: 'test://watched-resource',
    name: 'Watched',
    description: 'Can be subscribed to.',
    mimeType: 'text/plain',
    text: 'Watched.',
  },
];

const prompts: Record<string, { description: string; arguments?: Json[]; get(args: Json, ctx: ServerContext): Json }> =
  {
    test_simple_prompt: {
      description: 'A prompt.',
      get: () => ({ messages: [user({ type: 'text', text: 'This is a simple prompt for testing.' })] }),
    },
    test_prompt_with_arguments: {
      description: 'A prompt with arguments.',
      arguments: ['arg1', 'arg2'].map((name) => ({ name, description: 'An argument.', required: true })),
      get: ({ arg1, arg2 }) => ({
        messages: [user({ type: 'text', text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` })],
      }),
    },
    test_prompt_with_embedded_resource: {
      description: 'A prompt with a resource.',
      arguments: [{ name: 'resourceUri', description: 'The resource.', required: true }],
      get: ({ resourceUri }) => ({
        messages: [
          user({
            type: 'resource',
            resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
          }),
          user({ type: 'text', text: 'Please process the embedded resource above.' }),
        ],
      }),
    },
    test_prompt_with_image: {
      description: 'A prompt with an image.',
      get: () => ({
        messages: [
          user({ type: 'image', data: PNG, mimeType: 'image/png' }),
          user({ type: 'text', text: 'Please analyze the image above.' }),
        ],
      }),
    },
    test_input_required_result_prompt: {
      description: 'A prompt that asks.',
      get(_args, ctx) {
        const { context } = contentOf(answersOf(ctx).user_context);
        return typeof context === 'string'
          ? { messages: [user({ type: 'text', text: `Context: ${context}` })] }
          : ask({ user_context: elicit('What context should the prompt use?', { context: textSchema }) });
      },
    },
  };

function user(content: Json): Json {
  return { role: 'user', content };
}

/** @param toolsChanged tells open subscriptions, as the host does when a plugin comes or goes. */
export function conformanceServer(toolsChanged: () => void): Server {
  const server = new Server(
    { name: 'jev-host-conformance', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true },
        prompts: {},
        completions: {},
        logging: {},
      },
      requestState: { verify: states.verify },
    },
  );
  server.setRequestHandler('tools/list', () => ({
    tools: [
      ...Object.entries(tools),
      ['test_trigger_tool_change', { description: 'Changes the list.' }] as const,
      ...taskToolNames.map((name) => [name, { description: 'Can run as a task.' }] as const),
    ].map(([name, tool]) => ({
      name,
      description: tool.description,
      inputSchema: (('inputSchema' in tool && tool.inputSchema) || object()) as never,
    })),
  }));
  server.setRequestHandler('tools/call', async (request, ctx) => {
    if (request.params.name === 'test_trigger_tool_change') {
      toolsChanged();
      return said('Changed.') as unknown as InputRequiredResult;
    }
    const asTask = await callTaskTool(request.params.name, request.params.arguments ?? {}, ctx);
    if (asTask) return asTask as unknown as InputRequiredResult;
    const tool = tools[request.params.name];
    if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Unknown tool');
    return (await tool.run(request.params.arguments ?? {}, ctx)) as unknown as InputRequiredResult;
  });
  server.setRequestHandler('resources/list', () => ({
    resources: resources.map(({ text: _text, blob: _blob, ...resource }) => resource),
  }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [
      {
        uriTemplate: 'test://template/{id}/data',
        name: 'Template',
        description: 'Data by id.',
        mimeType: 'application/json',
      },
    ],
  }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
    if (id !== undefined)
      return {
        contents: [
          {
            uri,
            mimeType: 'application/json',
            text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
          },
        ],
      };
    const found = resources.find((resource) => resource.uri === uri);
    if (!found) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Resource not found', { uri });
    const { mimeType, text, blob } = found;
    return { contents: [{ uri, mimeType, ...(text !== undefined ? { text } : { blob: blob ?? '' }) }] };
  });
  server.setRequestHandler('resources/subscribe', () => ({}));
  server.setRequestHandler('resources/unsubscribe', () => ({}));
  server.setRequestHandler('prompts/list', () => ({
    prompts: Object.entries(prompts).map(([name, { description, arguments: args }]) => ({
      name,
      description,
      ...(args && { arguments: args as never }),
    })),
  }));
  server.setRequestHandler('prompts/get', ({ params }, ctx) => {
    const prompt = prompts[params.name];
    if (!prompt) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Unknown prompt');
    return prompt.get(params.arguments ?? {}, ctx) as unknown as InputRequiredResult;
  });
  server.setRequestHandler('completion/complete', () => ({
    completion: { values: ['paris', 'park', 'party'], total: 3, hasMore: false },
  }));
  attachTasks(server, extensionTasksOfSuite);
  return server;
}
