/** `gateway.jev`: the section of the one configuration file that belongs to the evaluation service. */
import * as v from 'valibot';
import { CredentialCommand, CredentialFile, EnvironmentName } from '../credentials/reference.ts';
import { baseUrlProblem, isLoopbackUrl, isTypesafeUrl } from './endpoint.ts';

const integer = (min: number, max: number) => v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));
const Model = v.pipe(
  v.string(),
  v.minLength(1),
  v.maxLength(1024),
  v.check((model) => !/[\p{Cc}]/u.test(model) && model.trim() !== '', 'one line of text'),
);
const Flag = v.optional(v.strictObject({ enabled: v.optional(v.boolean()) }), {});

/** Model for requests with images; Box questions need 1.14 or later. */
const DEFAULT_IMAGES_MODEL = 'jev-1.14.0';
const MEBIBYTE = 1024 * 1024;

/** Without what other rooms plug in; see `jevConfig`. */
const jevEntries = {
  enabled: v.optional(v.boolean(), false),
  provider: v.optional(v.picklist(['typesafe', 'upstream']), 'typesafe'),
  model: v.optional(Model),
  apiKeyFile: v.optional(CredentialFile),
  apiKeyEnv: v.optional(EnvironmentName),
  /** Program and arguments; asked last, without a shell. */
  credentialCommand: v.optional(CredentialCommand),
  baseUrl: v.optional(
    v.pipe(
      v.string(),
      v.maxLength(8192),
      v.rawCheck(({ dataset, addIssue }) => {
        const problem = dataset.typed ? baseUrlProblem(dataset.value) : undefined;
        if (problem) addIssue({ message: problem });
      }),
    ),
  ),
  /** Absent: every agent. Empty: none. */
  allowedAgentIds: v.optional(v.pipe(v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(256))), v.maxLength(4096))),
  /** Milliseconds for a whole evaluation: waiting, credential and request. */
  timeoutMs: v.optional(integer(1, 120_000), 5000),
  maxConcurrentRequests: v.optional(integer(1, 64), 4),
  maxQueueSize: v.optional(integer(0, 256), 16),
  /** Bytes of UTF-8 JSON of one request, images not counted. */
  maxInputBytes: v.optional(integer(1, MEBIBYTE), 131_072),
  /** Absent: see `questionsAllowed`. */
  maxQuestions: v.optional(integer(1, 256)),
  images: v.optional(
    v.strictObject({
      enabled: v.optional(v.boolean(), false),
      model: v.optional(Model, DEFAULT_IMAGES_MODEL),
      maxImageBytes: v.optional(integer(1, 16 * MEBIBYTE), 16 * MEBIBYTE),
    }),
    {},
  ),
  features: v.optional(
    v.strictObject({ computerTasks: Flag, computerSteps: Flag, browserTasks: Flag, browserSteps: Flag }),
    {},
  ),
} as const;

const OwnConfig = v.strictObject(jevEntries);
/** What the evaluation service itself reads. */
export type JevConfig = v.InferOutput<typeof OwnConfig>;

/**
 * The whole section.
 * @param entries sections that other rooms own, such as `browser` and `thinking`.
 */
export function jevConfig<const E extends v.ObjectEntries>(entries: E) {
  return v.pipe(
    v.strictObject({ ...jevEntries, ...entries }),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      for (const problem of jevConfigProblems(dataset.value as unknown as JevConfig)) addIssue({ message: problem });
    }),
  );
}

/** The service's section alone. */
export const JevSection = jevConfig({});

/** Rules between entries. An incomplete group is an error even while Jev is off, so that switching it on is no surprise. */
function jevConfigProblems(config: JevConfig): string[] {
  const problems: string[] = [];
  const { apiKeyFile, apiKeyEnv, credentialCommand, baseUrl, provider } = config;
  const explicit = apiKeyFile !== undefined || apiKeyEnv !== undefined || credentialCommand !== undefined;
  if (config.enabled && config.model === undefined) problems.push('model is missing');
  if (apiKeyFile !== undefined && apiKeyEnv !== undefined) {
    problems.push('apiKeyFile and apiKeyEnv exclude each other');
  }
  if (provider === 'upstream' && baseUrl !== undefined && !explicit) {
    problems.push('a baseUrl of an upstream needs its own credential (apiKeyFile or apiKeyEnv)');
  }
  if (provider === 'upstream' && baseUrl === undefined && explicit) {
    problems.push('a credential of an upstream needs its baseUrl');
  }
  // Otherwise the login or TYPESAFE_API_KEY, which are TypeSafe's, would be sent to whatever stands here.
  if (provider === 'typesafe' && baseUrl !== undefined && !explicit) {
    if (baseUrlProblem(baseUrl) === undefined && !isLoopbackUrl(baseUrl) && !isTypesafeUrl(baseUrl)) {
      problems.push('a baseUrl on another server needs its own credential (apiKeyFile or apiKeyEnv)');
    }
  }
  return problems;
}

/** Questions of one request where the operator says nothing. */
const DEFAULT_QUESTIONS = 64;
/** The same for programs, which cannot ask twice at a time and batch instead. */
const DEFAULT_PROGRAM_QUESTIONS = 128;

/** What the operator wrote holds for everyone. */
export function questionsAllowed({ maxQuestions }: Pick<JevConfig, 'maxQuestions'>, program: boolean): number {
  return maxQuestions ?? (program ? DEFAULT_PROGRAM_QUESTIONS : DEFAULT_QUESTIONS);
}

/** The variable that direct mode reads by itself. */
export const TYPESAFE_KEY_NAME = 'TYPESAFE_API_KEY';

/** Variables that hold credentials of this section and must reach no child. */
export function jevPrivateNames(config: JevConfig | undefined): string[] {
  if (!config) return [];
  if (config.apiKeyEnv !== undefined) return [config.apiKeyEnv];
  return config.provider === 'typesafe' && config.apiKeyFile === undefined ? [TYPESAFE_KEY_NAME] : [];
}
