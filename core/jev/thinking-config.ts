/** `gateway.jev.thinking`, and `gateway.jev.browser.textHelper`, which has the same shape: a text model behind HTTP. */
import * as v from 'valibot';
import { CredentialFile, EnvironmentName } from '../credentials/reference.ts';
import { baseUrlProblem } from './endpoint.ts';

const int = (min: number, max: number) => v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));

/** Tokens that one answer may have: enough for a field value of 2000 characters in any script. */
export const MAX_OUTPUT_TOKENS = 4096;

export const ThinkingConfig = v.pipe(
  v.strictObject({
    api: v.optional(
      v.pipe(
        v.picklist(['openai-chat', 'anthropic-messages']),
        v.description(
          '`openai-chat`: /chat/completions with a bearer. `anthropic-messages`: /messages with x-api-key.',
        ),
      ),
      'openai-chat',
    ),
    baseUrl: v.pipe(
      v.string(),
      v.maxLength(8192),
      v.rawCheck(({ dataset, addIssue }) => {
        const problem = dataset.typed ? baseUrlProblem(dataset.value) : undefined;
        if (problem) addIssue({ message: problem });
      }),
      v.description('Address of the model’s API with its version path, such as https://models.example/v1.'),
    ),
    model: v.pipe(v.string(), v.regex(/^[^\p{Cc}]{1,200}$/u, 'one line of at most 200 characters')),
    apiKeyFile: v.optional(v.pipe(CredentialFile, v.regex(/^\//, 'an absolute path'))),
    apiKeyEnv: v.optional(EnvironmentName),
    timeoutMs: v.optional(
      v.pipe(int(1000, 120_000), v.description('Milliseconds for one call, waiting included.')),
      15_000,
    ),
    maxConcurrentRequests: v.optional(int(1, 64), 4),
    maxQueueSize: v.optional(int(0, 256), 16),
    maxCallsPerRun: v.optional(
      v.pipe(int(1, 1000), v.description('Calls that one run of a controller may cause, whatever it asks for.')),
      100,
    ),
  }),
  v.check(
    ({ apiKeyFile, apiKeyEnv }) => (apiKeyFile === undefined) !== (apiKeyEnv === undefined),
    'one of apiKeyFile and apiKeyEnv',
  ),
);
export type ThinkingConfig = v.InferOutput<typeof ThinkingConfig>;

/** The setting of a removed feature; leaving it out is the whole migration. */
export const RemovedExperience = v.optional(
  v.pipe(
    v.unknown(),
    v.check((value) => value === undefined, 'was removed with the experience packs; delete this entry'),
  ),
);

/** Variables that hold credentials of this section and must reach no child. */
export function thinkingPrivateNames(config: ThinkingConfig | undefined): string[] {
  return config?.apiKeyEnv === undefined ? [] : [config.apiKeyEnv];
}
